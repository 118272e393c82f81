// Metrics and settings; only what differs from the defaults is sent.
import { at, make } from "./parts.js";

const SELECTION = ["ppr", "pnr", "demographic_parity", "disparate_impact"];
let boxes = [];
export const offer = (metrics) => {
  boxes = metrics.map((m) => {
    const box = make("input", { type: "checkbox", checked: m.chosen });
    const label = make("label", { className: "metric" }, box, make("span", {}, make("b", {}, m.name), ` (${m.key}) `, make("span", { className: "hint" }, m.formula)));
    box.addEventListener("change", count);
    return { ...m, box, label, words: [m.key, m.name, ...m.synonyms].join(" ").toLowerCase() };
  });
  at("metrics").replaceChildren(...boxes.map((b) => b.label));
  count();
};
const count = () => {
  const on = boxes.filter((b) => b.box.checked && !b.box.disabled);
  at("metrics-chosen").textContent = on.length ? on.map((b) => b.key).join(", ") : "none; tick at least one";
};
at("metric-search").addEventListener("input", () => {
  const wanted = at("metric-search").value.trim().toLowerCase();
  boxes.forEach((b) => { b.label.hidden = !b.words.includes(wanted); });
});
// Without labels, only selection rates can be audited.
export const limit = (labelled) => {
  boxes.forEach((b) => { b.box.disabled = !labelled && !SELECTION.includes(b.key); });
  count();
};

export const asked = () => {
  const fields = {};
  const on = boxes.filter((b) => b.box.checked && !b.box.disabled);
  if (!on.length) throw new Error("tick at least one metric");
  if (boxes.some((b) => !b.box.disabled && b.box.checked !== b.chosen)) fields.metrics = on.map((b) => b.key);
  for (const input of document.querySelectorAll("[data-setting]")) {
    const first = input.tagName === "SELECT" ? [...input.options].find((o) => o.defaultSelected)?.value ?? input.options[0].value : input.defaultValue;
    const typed = input.value.trim();
    if (typed === first || typed === "") continue;
    if (input.dataset.setting === "number") {
      if (!Number.isFinite(Number(typed))) throw new Error(`${document.querySelector(`label[for=${input.id}]`).textContent}: ${typed} is not a number`);
      fields[input.id] = Number(typed);
    } else fields[input.id] = typed;
  }
  if (at("mid_p").checked) fields.mid_p = true;
  const cells = [0, 1, 2, 3].map((i) => at(`c${i}`).value.trim());
  if (cells.some(Boolean)) {
    if (!cells.every((cell) => /^\d+$/.test(cell))) throw new Error("the counts to compare with must be four whole numbers");
    fields.reference = { cells: cells.map(Number) };
  }
  return fields;
};
