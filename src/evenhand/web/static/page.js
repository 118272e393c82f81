// The page: choose data, say what they mean, audit, and read the report.
import { ask, at, follow, get, GivenUp, labels, make, say, send, several } from "./parts.js";
import * as columns from "./columns.js";
import * as groups from "./groups.js";
import * as plan from "./plan.js";
import * as report from "./report.js";
import * as settings from "./settings.js";
import * as strata from "./strata.js";
import * as monitor from "./monitor.js";
import * as whatif from "./whatif.js";
import { busy, halt, idle, share, stopper, tell } from "./work.js";

let about = { metrics: [], settings: [], labels, limit: Infinity, files: { accept: "", hint: "" } }, source = null;

// Tabs, also with the arrow keys.
const tabs = [...document.querySelectorAll("[role=tab]")];
const choose = (tab) => {
  tabs.forEach((t) => {
    t.setAttribute("aria-selected", t === tab);
    t.tabIndex = t === tab ? 0 : -1;
    at(t.getAttribute("aria-controls")).hidden = true;
  });
  const panel = at(tab.getAttribute("aria-controls"));
  panel.hidden = false;
  panel.setAttribute("aria-labelledby", tab.id);
  // The audit and the monitor share a form, and what is found of one is not shown in the other.
  if (panel.id === "panel-audit" && monitor.on() !== (tab.id === "tab-monitor")) {
    report.clear();
    monitor.turn(tab.id === "tab-monitor");
  }
  if (tab.id === "tab-what-if") whatif.enter();
  if (tab.id === "tab-plan") plan.enter();
};
tabs.forEach((tab, i) => {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const next = tabs[(i + step + tabs.length) % tabs.length];
    choose(next);
    next.focus();
  });
});

const steps = ["columns", "grouping", "settings"];
const closed = () => {
  source = null;
  halt();
  idle();
  report.clear();
  steps.forEach((id) => { at(id).hidden = true; });
  at("chosen").hidden = at("first-rows").hidden = at("repeating").hidden = true;
  at("go").disabled = true;
};
const refreshed = () => {
  at("group-total").textContent = groups.total(at("intersections").value);
  groups.cross(at("intersections").value);
  groups.faring();
  if (source) settings.limit(source.counts ? { labels: true } : columns.usable());
};
columns.onChange(refreshed);
groups.onChange(refreshed);

const failed = (error) => {
  idle();
  if (error instanceof GivenUp) say("Cancelled.");
  else say(error.message, true);
  at("message").scrollIntoView({ block: "nearest" });
};

// Files are sent one after the other into the same place.
let sending = 0;
const take = async (files) => {
  const turn = ++sending;
  closed();
  const whole = files.reduce((sum, file) => sum + file.size, 0);
  if (whole > about.limit) return failed(new Error(`${files.length === 1 ? files[0].name : "the files"} would take ${(whole / 2 ** 20).toFixed(0)} MB, more than the limit of ${(about.limit / 2 ** 20).toFixed(0)} MB; start the page with a larger --limit`));
  let cancelled = false, found = null;
  try {
    for (const file of files) {
      busy(`sending ${file.name}`, () => { cancelled = true; send.abort(); });
      found = await send(file, found?.file, share);
      if (cancelled || turn !== sending) throw new GivenUp();
    }
    at("doing").textContent = "reading the first rows";
    share(0, 0);
    stopper(found.job);
    const seen = await follow(found.job, tell);
    if (turn === sending) offer(found.file, seen, files);
  } catch (error) {
    if (turn === sending) failed(error);
  }
};
const offer = (file, seen, files) => {
  idle();
  source = { file, counts: false };
  const names = files.length > 3 ? `${files[0].name} and ${files.length - 1} more files` : files.map((f) => f.name).join(", ");
  at("chosen").textContent = `${names}: ${several(seen.columns.length, "column")}`;
  const shown = seen.columns.slice(0, seen.rows[0].length);
  at("preview").replaceChildren(
    make("thead", {}, make("tr", {}, ...shown.map((c) => make("th", { scope: "col" }, c.name)))),
    make("tbody", {}, ...seen.rows.map((row) => make("tr", {}, ...row.map((v) => make("td", {}, v ?? ""))))),
  );
  columns.offer(file, seen.columns, seen.guesses);
  groups.offer(file, seen.columns, seen.guesses.groups);
  strata.offer(seen.columns, seen.guesses.model_column ? seen.guesses.cluster : null);
  at("chosen").hidden = at("first-rows").hidden = at("repeating").hidden = false;
  steps.forEach((id) => { at(id).hidden = false; });
  at("go").disabled = false;
  refreshed();
  say("");
};
at("file").addEventListener("change", () => at("file").files.length && take([...at("file").files]));
const drop = at("drop");
for (const kind of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) take([...event.dataTransfer.files]);
  });
}

const takeCounts = async (body) => {
  const turn = ++sending;
  closed();
  busy("reading the table", null);
  try {
    let file = null;
    const seen = await ask("table", body, "look", { tell, started: stopper, answered: (answer) => { file = answer.file; } });
    if (turn !== sending) return;
    idle();
    if (seen.text) at("counts").value = seen.text.replace(/\r\n/g, "\n");
    source = { file, counts: true };
    at("chosen").textContent = `Table of counts: ${several(seen.cases, "case")}`;
    groups.offerCounts(file, seen.groups);
    strata.offer(null);
    at("chosen").hidden = at("repeating").hidden = at("grouping").hidden = at("settings").hidden = false;
    at("go").disabled = false;
    refreshed();
    say("");
  } catch (error) {
    if (turn === sending) failed(error);
  }
};
at("use-counts").addEventListener("click", () => takeCounts({ text: at("counts").value }));
at("use-example").addEventListener("click", () => takeCounts({ example: true }));
at("counts").addEventListener("input", () => { if (source?.counts) closed(); });

// One audit at a time; another file, or an error, ends it and what it found.
const audited = async (asked, what = "audit") => {
  const mine = source;
  report.clear();
  try {
    const body = asked();
    busy("counting and testing", null);
    const found = await ask(what, { file: mine.file, ...body }, "audit", { tell, started: stopper });
    if (mine !== source) return;
    idle();
    if (what === "monitor") await monitor.added(found);
    report.show(found);
  } catch (error) {
    if (mine === source) failed(error);
  }
  if (mine === source) at("go").disabled = false;
};
at("setup").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!source || at("go").disabled) return;
  const chosen = () => ({ ...(source.counts ? {} : columns.asked()), ...groups.asked(), ...settings.asked() });
  if (monitor.on()) return audited(() => monitor.asked(chosen), "monitor");
  audited(() => ({ ...(source.counts ? {} : { ...columns.asked(), ...strata.asked() }), ...groups.asked(), ...settings.asked() }));
});
at("publish").addEventListener("click", () => { at("get").open = false; at("go").click(); });
at("saved").addEventListener("change", async () => {
  const [saved] = at("saved").files;
  if (!saved || !source || at("go").disabled) return;
  const text = await saved.text();
  at("saved").value = "";
  audited(() => ({ repeat: text }));
});

try {
  about = await get("about");
} catch (error) {
  say(error.message, true);
}
at("file").accept = about.files.accept;
at("file-hint").textContent = about.files.hint;
Object.assign(labels, about.labels);
settings.offer(about);
for (const id of ["intersections", "favourable"]) at(id).addEventListener("change", refreshed);
whatif.offer(about.metrics);
plan.offer(about.metrics);
