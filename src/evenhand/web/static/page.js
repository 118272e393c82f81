// The web app: choose data, say what they mean, audit, and read the report.
import { ask, at, make, setup, several, show, work } from "./parts.js";
import { arrange, offerColumns, ticked } from "./columns.js";
import * as groups from "./groups.js";
import * as plan from "./plan.js";
const MANY = ["cells", "groups", "metrics", "strata"], limit = document.body.dataset.limit / 2 ** 20;
let source = null, state = null, shown = "";

// The part that the address names.
const view = () => document.body.dataset.view;
const turn = () => {
  const hash = location.hash.slice(1), isThere = hash === "monitor" || hash === "plan" || hash === "report" && shown;
  document.body.dataset.view = isThere ? hash : "audit";
  for (const link of document.querySelectorAll("nav a")) link.ariaCurrent = link.hash === `#${view()}` ? "page" : null;
  if (view() === "plan") plan.enter();
  else if (view() === "report") at("found").focus();
  else at("back").href = `#${view()}`;
  open();
};
addEventListener("hashchange", turn);

// The steps that can be taken; the columns of a monitor are those of its first batch.
const open = () => {
  const isFirst = view() !== "monitor" || state === null, isFile = source && !source.counts;
  show(at("columns"), isFile && isFirst);
  for (const id of ["grouping", "settings"]) show(at(id), source && isFirst);
  for (const id of ["groups", "clusters", "more-columns", "first-rows"]) show(at(id), isFile);
  at("repeating").hidden = at("go").disabled = !source;
  arrange();
};
// New data, in place of others and of what was found in them.
const look = (text, task) => work(text, async (options) => {
  [source, at("chosen").textContent] = [null, ""];
  clear();
  open();
  source = await task({ ...options, slot: "look" });
  open();
});
// Files are sent one after the other into the same place.
at("file").addEventListener("change", () => look("sending", async (options) => {
  const files = [...at("file").files], megabytes = files.reduce((sum, file) => sum + file.size, 0) / 2 ** 20;
  if (megabytes > limit) throw new Error(`${megabytes.toFixed(0)} MB are more than the limit of ${limit} MB; choose smaller files`);
  let seen = null;
  for (const file of files) {
    const beside = seen ? `&beside=${seen.file}` : "";
    seen = await ask(`file?name=${encodeURIComponent(file.name)}${beside}`, file, options);
  }
  const names = Object.keys(seen.columns), head = names.slice(0, seen.rows[0].length);
  at("chosen").textContent = `${files.map(({ name }) => name).join(", ")}: ${several(names.length, "column")}`;
  const row = (tag) => (texts) => make("tr", {}, ...texts.map((text) => make(tag, {}, text)));
  at("preview").replaceChildren(row("th")(head), ...seen.rows.map(row("td")));
  offerColumns(seen);
  groups.offerGroups(seen);
  return { file: seen.file, counts: false };
}));
const takeCounts = () => look("reading the table", async (options) => {
  const seen = await ask("table", { text: at("counts").value }, options);
  at("chosen").textContent = `Table of counts: ${several(seen.cases, "case")}`;
  groups.offerCounts(seen.groups);
  return { file: seen.file, counts: true };
});
at("use-counts").addEventListener("click", takeCounts);
at("example").addEventListener("click", () => { at("counts").value = at("counts").defaultValue; takeCounts(); });
// Most metrics need labels, and some the score of every case.
const boxes = [...at("metrics").querySelectorAll("input")];
const countMetrics = () => {
  const labels = source?.counts || setup.y_true.value, scores = labels && !source?.counts && setup.decided.value === "score";
  for (const box of boxes) box.disabled = !{ "": true, labels, scores }[box.dataset.needs];
  at("metrics-chosen").textContent = boxes.filter((box) => box.checked && !box.disabled).map((box) => box.value).join(", ");
};
at("setup").addEventListener("arranged", countMetrics);
at("metrics").addEventListener("change", countMetrics);
at("find-metric").addEventListener("input", () => {
  const wanted = at("find-metric").value.trim().toLowerCase();
  for (const label of at("metrics").children) label.hidden = !`${label.textContent} ${label.dataset.words}`.toLowerCase().includes(wanted);
});
// What the fields say.
const asked = () => {
  const data = new FormData(at("setup")), fields = {};
  for (const name of data.keys()) if (!/^(positive|other)_/.test(name)) fields[name] = MANY.includes(name) ? data.getAll(name) : data.get(name);
  if (boxes.every((box) => box.disabled || box.checked === box.defaultChecked)) delete fields.metrics;
  return { ...fields, ...(source.counts ? {} : ticked(data)), ...groups.asked() };
};
const audit = (task, fields) => work("counting and testing", async (options) => {
  const mine = source;
  clear();
  const found = await ask(task, { file: source.file, ...fields() }, options);
  if (found.batches) {
    setup.at.value = at("state").value = "";
    const text = await (await fetch(`report/${found.report}.json`)).text();
    remember(text, `The monitor of ${found.batches}: the next batch is added to it.`);
  }
  if (mine === source) report(found);
});
at("setup").addEventListener("submit", (event) => {
  event.preventDefault();
  at("get").hidePopover();
  const task = view() === "monitor" ? "monitor" : "audit";
  if (view() === "report") location.hash = "audit";
  if (source) audit(task, () => task === "monitor" && state !== null ? { at: setup.at.value, state } : asked());
});
at("saved").addEventListener("change", async () => {
  const repeat = await at("saved").files[0].text();
  at("saved").value = "";
  audit("audit", () => ({ repeat }));
});
// The state of a monitor, to which the next batch is added.
const remember = (text, hint) => { [state, at("state-hint").textContent, at("forget").hidden] = [text, hint, text === null]; open(); };
at("state").addEventListener("change", async () => {
  const [file] = at("state").files;
  if (file) remember(await file.text(), `${file.name}: columns and metrics are those of its first batch.`);
});
at("forget").addEventListener("click", () => remember(null, at("state").value = ""));

// The report, in the whole window below a thin bar.
const links = [...at("get").querySelectorAll("a")];
const report = (found) => {
  const changes = found.changes ?? [];
  shown = found.report;
  at("found").textContent = found.title;
  for (const link of links) link.href = `report/${shown}.${link.dataset.kind}`;
  at("report").src = links[0].href;
  at("view").classList.toggle("of-monitor", Boolean(found.batches));
  at("changed").hidden = !found.changes;
  at("changed").textContent = changes.length ? `Changed: ${several(changes.length, "difference")}` : "Nothing changed";
  at("changes").replaceChildren(...changes.map((change) => make("li", {}, change)));
  at("reopen").hidden = false;
  location.hash = "report";
};
const clear = () => { [shown, at("reopen").hidden] = ["", true]; at("report").removeAttribute("src"); };
addEventListener("blur", () => at("get").hidePopover());
turn();
