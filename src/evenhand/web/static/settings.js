// Metrics and settings, as the library describes them; only what differs from the defaults is sent.
import { at, labels, make } from "./parts.js";

let boxes = [], fields = [];
export const offer = ({ metrics, settings }) => {
  document.querySelectorAll("[data-label]").forEach((place) => { place.textContent = labels[place.dataset.label]; });
  boxes = metrics.map((m) => {
    const box = make("input", { type: "checkbox", checked: Boolean(m.chosen) });
    const label = make("label", { className: "metric" }, box, make("span", {}, make("b", {}, m.name), ` (${m.key}) `, make("span", { className: "hint" }, m.formula)));
    box.addEventListener("change", count);
    return { ...m, box, label, words: [m.key, m.name, ...m.synonyms].join(" ").toLowerCase() };
  });
  at("metrics").replaceChildren(...boxes.map((b) => b.label));
  count();
  fields = settings.map((setting) => ({ ...setting, ...field(setting) }));
  const places = [...document.querySelectorAll("[data-fields]")], placed = places.flatMap((place) => place.dataset.fields.split(" "));
  for (const place of places) {
    const wanted = place.dataset.fields ? place.dataset.fields.split(" ") : fields.map(({ name }) => name).filter((name) => !placed.includes(name));
    place.replaceChildren(...wanted.map((name) => fields.find((one) => one.name === name).row));
  }
};
const field = ({ name, label, reads, value, choices, hint }) => {
  if (reads === "flag") {
    const input = make("input", { type: "checkbox", id: name });
    return { input, row: make("div", { className: "tick" }, make("label", {}, input, ` ${label}`)) };
  }
  const modes = { number: "decimal", whole: "numeric" };
  const input = choices.length
    ? make("select", { id: name }, ...choices.map(([choice, words]) => new Option(words, choice, choice === value, choice === value)))
    : make("input", { id: name, value, autocomplete: "off", inputMode: modes[reads] ?? "text" });
  const below = hint ? [make("p", { className: "hint", id: `${name}-hint` }, hint)] : [];
  if (hint) input.setAttribute("aria-describedby", `${name}-hint`);
  return { input, row: make("div", {}, make("label", { htmlFor: name }, label), input, ...below) };
};

const count = () => {
  const on = boxes.filter((b) => b.box.checked && !b.box.disabled);
  at("metrics-chosen").textContent = on.length ? on.map((b) => b.key).join(", ") : "none; tick at least one";
};
at("metric-search").addEventListener("input", () => {
  const wanted = at("metric-search").value.trim().toLowerCase();
  boxes.forEach((b) => { b.label.hidden = !b.words.includes(wanted); });
});
// Most metrics need labels, and some the score of every case.
export const limit = (known) => {
  boxes.forEach((b) => { b.box.disabled = Boolean(b.needs) && !known[b.needs] || b.needs === "scores" && !known.labels; });
  count();
};

export const asked = () => {
  const on = boxes.filter((b) => b.box.checked && !b.box.disabled), given = {};
  if (!on.length) throw new Error("tick at least one metric");
  if (boxes.some((b) => !b.box.disabled && b.box.checked !== Boolean(b.chosen))) given.metrics = on.map((b) => b.key);
  for (const { name, reads, value, input } of fields) {
    const typed = reads === "flag" ? input.checked : input.value.trim();
    if (typed && typed !== value) given[name] = typed;
  }
  const cells = [0, 1, 2, 3].map((i) => at(`c${i}`).value.trim());
  if (cells.some(Boolean)) given.reference = { cells };
  return given;
};
