// What all parts of the page use: elements, words, and jobs that the server does.
// What the library calls the fields of settings on the page.
export const labels = {};
export const at = (id) => document.getElementById(id);

export const make = (tag, properties = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

const SVG = "http://www.w3.org/2000/svg";
export const draw = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

export const several = (n, thing, things = thing + "s") => `${n.toLocaleString("en")} ${n === 1 ? thing : things}`;
export const short = (value) => {
  if (value === null || value === undefined) return "none";
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(2);
  return (+value.toFixed(4)).toString();
};
// A p-value with the digits that decide whether it is at most one of the usual levels.
export const decided = (p) => {
  const told = [4, 5, 6, 7, 8, 9, 10, 11, 12].find((k) => [.01, .05, .1].every((level) => Math.sign(+p?.toFixed(k) - level) === Math.sign(p - level)));
  return told > 4 ? p.toFixed(told) : short(p);
};
// Commas between numbers, or semicolons, or blanks; null if something is not a number.
export const numbers = (text) => {
  const parts = text.split(/[\s,;]+/).filter(Boolean).map(Number);
  return parts.every(Number.isFinite) ? parts : null;
};

export const say = (text, bad = false, where = "message") => {
  at(where).textContent = text;
  at(where).classList.toggle("bad", bad);
};

export class GivenUp extends Error {}
const HEADERS = { "X-Evenhand": "1", "Content-Type": "application/json" };
const me = [...crypto.getRandomValues(new Uint8Array(8))].map((b) => b.toString(16).padStart(2, "0")).join("");
export const slotted = (path, slot) => `${path}${path.includes("?") ? "&" : "?"}slot=${me}-${encodeURIComponent(slot)}`;

const parsed = (text, ok) => {
  let found;
  try { found = JSON.parse(text); } catch { found = null; }
  if (ok && found) return found;
  throw new Error(found?.error ?? "no valid answer; is evenhand serve still running?");
};
const received = async (path, options) => {
  let answer;
  try { answer = await fetch(path, options); } catch { throw new Error("no answer; is evenhand serve still running?"); }
  return parsed(await answer.text(), answer.ok);
};
export const get = (path) => received(path, {});

// Wait for a job, telling what it does meanwhile.
const open = new Set();
export const follow = async (key, tell = () => {}) => {
  open.add(key);
  try {
    for (let seen = 0; ;) {
      const now = await received(`job/${key}?seen=${seen}`, {});
      if (now.state === "done") return now.answer;
      if (now.state === "failed") throw new Error(now.error);
      if (now.state === "cancelled") throw new GivenUp();
      seen = now.seen;
      tell(now);
    }
  } finally {
    open.delete(key);
  }
};
export const giveUp = (key) => fetch(`job/${key}`, { method: "DELETE", headers: HEADERS, keepalive: true }).catch(() => {});
addEventListener("pagehide", (event) => { if (!event.persisted) open.forEach(giveUp); });

// Ask for a job, and wait for it; what is asked later in the same slot takes its place.
const latest = {};
export const ask = async (path, body, slot, { tell, started, answered } = {}) => {
  const turn = latest[slot] = (latest[slot] ?? 0) + 1;
  try {
    const answer = await received(slotted(path, slot), { method: "POST", headers: HEADERS, body: JSON.stringify(body) });
    const { job } = answer;
    answered?.(answer);
    if (turn !== latest[slot]) { giveUp(job); throw new GivenUp(); }
    started?.(job);
    return await follow(job, tell);
  } catch (error) {
    throw turn === latest[slot] ? error : new GivenUp();
  }
};

// A file is sent unchanged.
export const send = (file, beside, tell) => new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();
  const query = `name=${encodeURIComponent(file.name)}${beside ? `&beside=${beside}` : ""}`;
  request.open("PUT", slotted(`file?${query}`, "look"));
  request.setRequestHeader("X-Evenhand", "1");
  request.upload.onprogress = (event) => tell(event.loaded, event.total);
  request.onabort = () => reject(new GivenUp());
  request.onerror = () => reject(new Error(`${file.name} could not be sent; it may be too large, or evenhand serve has stopped`));
  request.onload = () => { try { resolve(parsed(request.responseText, request.status === 200)); } catch (error) { reject(error); } };
  request.send(file);
  send.abort = () => request.abort();
});
