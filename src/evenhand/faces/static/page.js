"use strict";
const at = (id) => document.getElementById(id);
const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
let file = null;

const say = (text, bad = false, where = "message") => {
  at(where).textContent = text;
  at(where).classList.toggle("bad", bad);
};
const read = (text) => {
  try { return JSON.parse(text); } catch { return { error: "no valid answer; is evenhand serve still running?" }; }
};
const ask = async (path, body) => {
  const answer = await fetch(path, { method: "POST", headers: { "X-Evenhand": "1", "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const found = read(await answer.text());
  if (!answer.ok) throw new Error(found.error);
  return found;
};

// Tabs, also with the arrow keys.
const tabs = [...document.querySelectorAll("[role=tab]")];
const choose = (tab) => tabs.forEach((t) => {
  t.setAttribute("aria-selected", t === tab);
  t.tabIndex = t === tab ? 0 : -1;
  at(t.getAttribute("aria-controls")).hidden = t !== tab;
});
tabs.forEach((tab, i) => {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const next = tabs[(i + 1) % tabs.length];
    choose(next);
    next.focus();
  });
});

// A file is sent unchanged, with a progress bar.
const send = (chosen) => {
  at("columns").hidden = at("result").hidden = true;
  const request = new XMLHttpRequest(), bar = at("progress");
  request.open("PUT", "file?name=" + encodeURIComponent(chosen.name));
  request.setRequestHeader("X-Evenhand", "1");
  request.upload.onprogress = (event) => { bar.value = event.loaded / event.total; };
  request.onloadend = () => {
    bar.hidden = true;
    const found = read(request.responseText);
    if (request.status !== 200) return say(found.error, true);
    say("");
    offer(found);
  };
  bar.hidden = false;
  bar.value = 0;
  say(`reading ${chosen.name} …`);
  request.send(chosen);
};
const offer = (found) => {
  file = found.file;
  at("chosen").textContent = `${found.name}: ${found.columns.length} columns`;
  const head = make("tr", ""), body = found.rows.map((row) => { const line = make("tr", ""); line.append(...row.map((v) => make("td", v))); return line; });
  head.append(...found.columns.map((c) => Object.assign(make("th", c), { scope: "col" })));
  const thead = make("thead", ""), tbody = make("tbody", "");
  thead.append(head);
  tbody.append(...body);
  at("preview").replaceChildren(thead, tbody);
  for (const [id, role, none] of [["label", "label", "none: only selection rates"], ["prediction", "prediction", "none"], ["score", null, "none"], ["groups", "group", null]]) {
    const options = found.columns.map((c) => Object.assign(make("option", c), { value: c, selected: role !== null && c === found.guesses[role] }));
    at(id).replaceChildren(...(none ? [Object.assign(make("option", none), { value: "" })] : []), ...options);
    if (none && !(role && found.guesses[role])) at(id).value = "";
  }
  at("columns").hidden = false;
  at("label").focus();
};
at("file").addEventListener("change", () => at("file").files.length && send(at("file").files[0]));
const drop = at("drop");
for (const kind of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
}

const show = (found) => {
  at("found").textContent = `Audit of ${found.n.toLocaleString("en")} cases`;
  const more = found.more ? [make("li", `and ${found.more} more ${found.more === 1 ? "finding" : "findings"} in the report`)] : [];
  at("findings").replaceChildren(...found.findings.map((f) => make("li", f.sentence + ".")), ...more);
  for (const kind of ["html", "json", "csv"]) at("get-" + kind).href = `report/${found.audit}.${kind}?download`;
  at("report").src = `report/${found.audit}.html`;
  at("result").hidden = false;
  at("found").scrollIntoView();
};
const audit = async (path, body) => {
  say("counting and testing …");
  try {
    show(await ask(path, body));
    say("");
  } catch (error) {
    at("result").hidden = true;
    say(error.message, true);
  }
};
at("columns").addEventListener("submit", (event) => {
  event.preventDefault();
  const groups = [...at("groups").selectedOptions].map((o) => o.value);
  const fields = Object.fromEntries(["label", "prediction", "score", "threshold", "positive", "reference"].map((id) => [id, at(id).value]));
  audit("audit", { file, groups, ...fields });
});
at("audit-counts").addEventListener("click", () => audit("counts", { text: at("counts").value }));

// What if: the results follow the input.
let asked = 0;
const number = (value) => value === null ? "none" : Math.abs(value) < 1e-4 && value !== 0 ? value.toExponential(2) : (+value.toFixed(4)).toString();
const imagine = async () => {
  const turn = ++asked, cells = (who) => [0, 1, 2, 3].map((i) => at(who + i).value || 0);
  try {
    const found = await ask("what-if", { group: cells("g"), reference: cells("r"), metric: at("imagined-metric").value, strength: at("imagined-strength").value || 0 });
    if (turn !== asked) return;
    say("", false, "imagined-message");
    const rows = [
      ["score", found.reason ? `undefined: ${found.reason}` : number(found.score)],
      ["95 % interval", `${number(found.low)} to ${number(found.high)}`],
      ["reference's score", number(found.reference)],
      ["gap to the reference, and its 95 % interval", `${number(found.gap)}, ${number(found.gap_low)} to ${number(found.gap_high)}`],
      ["p-value for equal scores", number(found.pvalue)],
      ["share of groups like the reference that score this or lower", found.percentile === null ? "none" : `${number(100 * found.percentile)} %`],
      ["smoothed score", number(found.smoothed) + (found.shrinkage === null ? "" : `, which keeps ${number(100 * found.shrinkage)} % of an expected gap`)],
      ["probability of an undefined score at this size", `${number(100 * found.undefined)} %`],
    ];
    at("answer").tBodies[0].replaceChildren(...rows.map(([name, value]) => {
      const line = make("tr", "");
      line.append(Object.assign(make("th", name), { scope: "row" }), make("td", value));
      return line;
    }));
  } catch (error) {
    if (turn === asked) say(error.message, true, "imagined-message");
  }
};
at("imagined").addEventListener("input", imagine);
at("imagined").addEventListener("submit", (event) => event.preventDefault());
imagine();
