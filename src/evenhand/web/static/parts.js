// Elements, sentences, and jobs that the server does.
export const at = (id) => document.getElementById(id);
export const setup = at("setup").elements;

export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
export const hint = (text) => make("p", { className: "hint" }, text);
export const bad = (text) => make("p", { className: "bad" }, text);
export const several = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;

// What is hidden is not sent.
export const show = (element, on) => {
  element.hidden = element.disabled = !on;
};
// Choices of a list after those that it always has.
export const offer = (select, choices) => {
  const before = select.value;
  select.fixed ??= select.length;
  select.length = select.fixed;
  select.append(...choices.map(([value, text]) => new Option(text, value)));
  select.value = before;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
};
export const later = (call) => {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, 250);
  };
};

// Values with the number of their rows.
export const sizes = ({ values, distinct, missing }) => {
  const most = Math.max(1, ...values.map(({ n }) => n));
  const shown = values.slice(0, 12).map(({ value, n }) => {
    const bar = make("meter", { max: most, value: n, ariaHidden: "true" });
    return make("li", {}, make("span", {}, String(value)), bar, n.toLocaleString("en"));
  });
  const notes = [];
  if (distinct > shown.length) notes.push(`and ${several(distinct - shown.length, "more value")}`);
  if (missing) notes.push(`without a value, and left out: ${several(missing, "case")}`);
  return [make("ul", {}, ...shown), ...notes.map(hint)];
};

export class GivenUp extends Error {}
const headers = { "X-Evenhand": "1" };
const tab = crypto.randomUUID();

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

const open = new Set();
const giveUp = (job) => fetch(`job/${job}`, { method: "DELETE", headers, keepalive: true }).catch(() => {});
addEventListener("pagehide", () => open.forEach(giveUp));

// Start a job, and wait for its answer. A later one in the same slot overtakes it.
export const ask = async (path, body, { slot = path, signal, tell = () => {} } = {}) => {
  const isFile = body instanceof File;
  const options = { headers, signal, method: isFile ? "PUT" : "POST", body: isFile ? body : JSON.stringify(body) };
  const place = `${path.includes("?") ? "&" : "?"}slot=${tab}-${encodeURIComponent(slot)}`;
  const { job, file } = await request(path + place, options);
  open.add(job);
  signal?.addEventListener("abort", () => giveUp(job));
  if (signal?.aborted) giveUp(job);
  try {
    for (let seen = 0; ;) {
      const now = await request(`job/${job}?seen=${seen}`);
      if (now.state === "done") return { ...now.answer, file };
      if (now.state === "failed") throw new Error(now.answer);
      if (now.state === "cancelled") throw new GivenUp();
      seen = now.version;
      tell(now);
    }
  } finally {
    open.delete(job);
  }
};

export const say = (place, text, isBad = false) => {
  place.textContent = text;
  place.classList.toggle("bad", isBad);
};
// How far a job is, in words.
export const progress = ({ state, what, done, total }) => {
  if (state === "waiting") return "waiting for other work to finish";
  return total ? `${what}: ${Math.floor(100 * done / total)}%` : what;
};

// Work that can be cancelled, one at a time.
let current = null;
export const work = async (text, task) => {
  current?.abort();
  const mine = current = new AbortController();
  const tell = (now) => {
    at("doing").textContent = progress(now) || text;
    if (now.total) at("progress").value = now.done / now.total;
    else at("progress").removeAttribute("value");
  };
  tell({ what: text });
  say(at("message"), "");
  at("work").hidden = false;
  at("work").scrollIntoView({ block: "nearest" });
  try {
    await task({ signal: mine.signal, tell });
  } catch (error) {
    if (mine !== current) return;
    say(at("message"), error instanceof GivenUp ? "Cancelled." : error.message, !(error instanceof GivenUp));
    at("message").scrollIntoView({ block: "nearest" });
  } finally {
    if (mine === current) at("work").hidden = true;
  }
};
at("cancel").addEventListener("click", () => current.abort());
