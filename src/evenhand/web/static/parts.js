// Elements, sentences, and jobs that the server does.
export const at = (id) => document.getElementById(id);
export const setup = at("setup").elements;

export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
export const note = (text, className = "hint") => make("p", { className }, text);
export const several = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
// What is hidden is not sent.
export const show = (element, on) => { element.hidden = element.disabled = !on; };
export const say = (place, textContent, isBad = false) => Object.assign(place, { textContent, className: isBad ? "bad" : "" });
// Choices of a list after those that it always has.
export const offer = (select, choices) => {
  const before = select.value;
  select.fixed ??= select.length;
  select.length = select.fixed;
  select.append(...choices.map(([value, text]) => new Option(text, value)));
  select.value = before;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
};
export const later = (call, timer) => () => { clearTimeout(timer); timer = setTimeout(call, 250); };
// Values with the number of their rows.
export const sizes = ({ values, distinct, missing }) => {
  const max = Math.max(1, ...values.map(({ n }) => n)), shown = values.slice(0, 12);
  const rows = shown.map(({ value, n }) => make("li", {}, make("span", {}, String(value)),
    make("meter", { max, value: n, ariaHidden: "true" }), n.toLocaleString("en")));
  const more = distinct > shown.length ? [note(`and ${several(distinct - shown.length, "more value")}`)] : [];
  const left = missing ? [note(`without a value, and left out: ${several(missing, "case")}`)] : [];
  return [make("ul", {}, ...rows), ...more, ...left];
};
export class GivenUp extends Error {}
// Do something for a place, which tells what went wrong.
export const attempt = async (place, task) => {
  try { await task(); } catch (error) { if (!(error instanceof GivenUp)) place.replaceChildren(note(error.message, "bad")); }
};
const headers = { "X-Evenhand": "1" }, tab = crypto.randomUUID(), open = new Set();
const request = async (path, options = {}) => {
  let answer, content;
  try {
    answer = await fetch(path, options);
    content = await answer.json();
  } catch {
    if (options.signal?.aborted) throw new GivenUp();
    throw new Error("no answer; was the web app stopped, or is the file too large?");
  }
  if (!answer.ok) throw new Error(content.error);
  return content;
};
const giveUp = (job) => fetch(`job/${job}`, { method: "DELETE", headers, keepalive: true }).catch(() => {});
addEventListener("pagehide", () => open.forEach(giveUp));

// Start a job, and wait for its answer. A later one in the same slot overtakes it.
export const ask = async (path, body, { slot = path, signal, tell = () => {} } = {}) => {
  const sent = body instanceof File ? { method: "PUT", body } : { method: "POST", body: JSON.stringify(body) };
  const place = `${path.includes("?") ? "&" : "?"}slot=${tab}-${encodeURIComponent(slot)}`;
  const { job, file } = await request(path + place, { headers, signal, ...sent });
  open.add(job);
  signal?.addEventListener("abort", () => giveUp(job));
  if (signal?.aborted) giveUp(job);
  for (let now = { version: 0 }; ; tell(now)) {
    now = await request(`job/${job}?seen=${now.version}`).catch((error) => ({ state: "failed", answer: error.message }));
    if (!["waiting", "working"].includes(now.state)) open.delete(job);
    if (now.state === "done") return { ...now.answer, file };
    if (now.state === "failed") throw new Error(now.answer);
    if (now.state === "cancelled") throw new GivenUp();
  }
};
// How far a job is, in words.
export const progress = ({ state, progress: [what, done, total] }) => state === "waiting" ? "waiting for other work to finish"
  : total ? `${what}: ${Math.floor(100 * done / total)}%` : what;

// Work that can be cancelled, one at a time.
let current = null;
export const work = async (text, task) => {
  current?.abort();
  const mine = current = new AbortController();
  const tell = (now) => {
    at("doing").textContent = progress(now) || text;
    const [, done, total] = now.progress;
    at("progress").toggleAttribute("value", total > 0);
    if (total) at("progress").value = done / total;
  };
  tell({ progress: [text, 0, 0] });
  say(at("message"), "");
  at("work").hidden = false;
  at("work").scrollIntoView({ block: "nearest" });
  try {
    await task({ signal: mine.signal, tell });
  } catch (error) {
    if (mine === current) say(at("message"), error.message || "Cancelled.", error.message !== "");
  }
  if (mine === current) at("work").hidden = true;
};
at("cancel").addEventListener("click", () => current.abort());
