// The web app: choose data, say what they mean, audit, and read the report.
import { ask, at, make, offer, say, setup, several, show, work } from "./parts.js";
import { arrange, offerColumns, ticked } from "./columns.js";
import * as groups from "./groups.js";
import * as plan from "./plan.js";

const MANY = ["cells", "groups", "metrics", "models", "strata"];
let source = null, state = null, shown = "";

// The part that the address names.
const view = () => document.body.dataset.view;
const turn = () => {
  const hash = location.hash.slice(1);
  const isThere = hash === "monitor" || hash === "plan" || hash === "report" && shown;
  document.body.dataset.view = isThere ? hash : "audit";
  for (const link of document.querySelectorAll("nav a")) link.ariaCurrent = link.hash === `#${view()}` ? "page" : null;
  if (view() === "audit" || view() === "monitor") at("back").href = `#${view()}`;
  if (view() === "plan") plan.enter();
  if (view() === "report") at("found").focus();
  open();
};
addEventListener("hashchange", turn);

// The steps that can be taken; the columns of a monitor are those of its first batch.
const open = () => {
  const isFirst = view() !== "monitor" || state === null, isFile = source !== null && !source.counts;
  show(at("columns"), isFile && isFirst);
  show(at("grouping"), source && isFirst);
  show(at("settings"), source && isFirst);
  for (const id of ["groups", "clusters", "more-columns"]) show(at(id), isFile);
  at("first-rows").hidden = !isFile;
  at("repeating").hidden = !source;
  at("go").disabled = !source;
  arrange();
  countMetrics();
};
const close = () => {
  source = null;
  say(at("chosen"), "");
  clear();
  open();
};

// Files are sent one after the other into the same place.
const take = (files) => work(`sending ${files[0].name}`, async (options) => {
  close();
  const megabytes = files.reduce((sum, file) => sum + file.size, 0) / 2 ** 20, limit = document.body.dataset.limit / 2 ** 20;
  if (megabytes > limit) throw new Error(`${megabytes.toFixed(0)} MB are more than the limit of ${limit.toFixed(0)} MB; choose smaller files`);
  let seen = null;
  for (const file of files) {
    const beside = seen ? `&beside=${seen.file}` : "";
    seen = await ask(`file?name=${encodeURIComponent(file.name)}${beside}`, file, { ...options, slot: "look" });
  }
  source = { file: seen.file, counts: false };
  const names = files.length > 3 ? `${files[0].name} and ${files.length - 1} more files` : files.map(({ name }) => name).join(", ");
  say(at("chosen"), `${names}: ${several(Object.keys(seen.columns).length, "column")}`);
  const head = Object.keys(seen.columns).slice(0, seen.rows[0].length);
  const rows = [head, ...seen.rows].map((row, i) => make("tr", {}, ...row.map((text) => make(i ? "td" : "th", {}, text))));
  at("preview").replaceChildren(...rows);
  offerColumns(seen);
  groups.offerGroups(seen);
  open();
});
at("file").addEventListener("change", () => at("file").files.length && take([...at("file").files]));
for (const kind of ["dragover", "dragleave", "drop"]) {
  at("drop").addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) take([...event.dataTransfer.files]);
  });
}

const takeCounts = () => work("reading the table", async (options) => {
  close();
  const seen = await ask("table", { text: at("counts").value }, { ...options, slot: "look" });
  source = { file: seen.file, counts: true };
  say(at("chosen"), `Table of counts: ${several(seen.cases, "case")}`);
  groups.offerCounts(seen.groups);
  open();
});
at("use-counts").addEventListener("click", takeCounts);
at("example").addEventListener("click", () => {
  at("counts").value = at("counts").defaultValue;
  at("paste").open = true;
  takeCounts();
});
at("counts").addEventListener("input", () => { if (source?.counts) close(); });

// Most metrics need labels, and some the score of every case.
const boxes = [...at("metrics").querySelectorAll("input")];
const countMetrics = () => {
  const hasLabels = source?.counts || setup.y_true.value, hasScores = hasLabels && !source?.counts && setup.decided.value === "score";
  for (const box of boxes) box.disabled = box.dataset.needs !== "" && !(box.dataset.needs === "labels" ? hasLabels : hasScores);
  at("metrics-chosen").textContent = boxes.filter((box) => box.checked && !box.disabled).map((box) => box.value).join(", ");
};
at("metrics").addEventListener("change", countMetrics);
at("setup").addEventListener("arranged", countMetrics);
at("find-metric").addEventListener("input", () => {
  const wanted = at("find-metric").value.trim().toLowerCase();
  for (const { labels: [label] } of boxes) label.hidden = !`${label.textContent} ${label.dataset.words}`.toLowerCase().includes(wanted);
});

// What the fields say.
const asked = () => {
  const data = new FormData(at("setup")), fields = {};
  for (const name of data.keys()) fields[name] = MANY.includes(name) ? data.getAll(name) : data.get(name);
  if (boxes.every((box) => box.disabled || box.checked === box.defaultChecked)) delete fields.metrics;
  return { ...fields, ...(source.counts ? {} : ticked(data)), ...groups.asked() };
};
const audit = (fields) => work("counting and testing", async (options) => {
  const mine = source, task = view() === "monitor" ? "monitor" : "audit";
  clear();
  const found = await ask(task, { file: source.file, ...fields() }, options);
  if (mine !== source) return;
  if (found.batches) await goOn(found);
  report(found);
});
at("setup").addEventListener("submit", (event) => {
  event.preventDefault();
  at("get").hidePopover();
  if (!source) return;
  if (view() === "report") location.hash = at("back").hash;
  audit(() => state !== null && view() === "monitor" ? { at: setup.at.value, state } : asked());
});
at("saved").addEventListener("change", async () => {
  const repeat = await at("saved").files[0].text();
  at("saved").value = "";
  audit(() => ({ repeat }));
});

// The state of a monitor, to which the next batch is added.
const remember = (text, hint) => {
  state = text;
  at("state-hint").textContent = hint;
  at("forget").hidden = state === null;
  open();
};
const goOn = async (found) => {
  const answer = await fetch(`report/${found.report}.json`);
  setup.at.value = at("state").value = "";
  remember(await answer.text(), `The monitor of ${found.batches}: the next batch is added to it.`);
};
at("state").addEventListener("change", async () => {
  const [file] = at("state").files;
  if (file) remember(await file.text(), `${file.name}: columns and metrics are those of its first batch.`);
});
at("forget").addEventListener("click", () => {
  at("state").value = "";
  remember(null, "A new monitor is begun.");
});

// The report, in the whole window below a thin bar.
const links = [...at("get").querySelectorAll("a")];
const report = (found) => {
  shown = found.report;
  at("found").textContent = found.title;
  for (const link of links) link.href = `report/${shown}.${link.dataset.kind}`;
  at("report").src = links[0].href;
  at("view").classList.toggle("of-monitor", Boolean(found.batches));
  at("changed").hidden = !found.changes;
  at("changed").textContent = found.changes?.length ? `Changed: ${several(found.changes.length, "difference")}` : "Nothing changed";
  at("changes").replaceChildren(...(found.changes ?? []).map((change) => make("li", {}, change)));
  at("reopen").hidden = false;
  if (location.hash === "#report") turn();
  else location.hash = "report";
};
const clear = () => {
  shown = "";
  at("reopen").hidden = true;
  at("report").removeAttribute("src");
};
addEventListener("blur", () => at("get").hidePopover());
turn();
