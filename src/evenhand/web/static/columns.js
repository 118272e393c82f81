// Labels, predictions and scores: which columns, and which of their values are positive.
import { ask, at, draw, GivenUp, labels, make, numbers, several } from "./parts.js";
import { chips } from "./chips.js";

let file = null, known = new Map();
const found = { y_true: null, y_pred: null };
let changed = () => {};
export const onChange = (call) => { changed = call; };
export const decided = () => document.querySelector("[name=decided]:checked").value;

const same = (one, other) => one.length === other.length && one.every((value) => other.includes(value));
const sample = (role) => {
  const column = known.get(at(role).value);
  at(`${role}-sample`).textContent = column ? (column.values.length ? `such as ${column.values.join(", ")}` : "no values in the first rows") : "";
};

export const offer = (key, columns, guesses) => {
  file = key;
  known = new Map(columns.map((column) => [column.name, column]));
  for (const [role, none] of [["y_true", "none: only selection rates"], ["y_pred", "choose a column"], ["y_score", "choose a column"]]) {
    at(role).replaceChildren(new Option(none, ""), ...columns.map((c) => new Option(c.name, c.name)));
    at(role).value = guesses[role] ?? "";
    sample(role);
  }
  at("model_column").replaceChildren(new Option("none: each model has a column", ""), ...columns.map((c) => new Option(c.name, c.name)));
  at("model_column").value = guesses.model_column ?? "";
  const scored = !guesses.y_pred && guesses.y_score;
  document.querySelector(`[name=decided][value=${guesses.model_column ? "models" : scored ? "score" : "prediction"}]`).checked = true;
  at("threshold").value = "";
  models.clear();
  showModels(columns.map((c) => c.name));
  show();
};

// Models that decided on the same cases: below each other, or a column each, in the order in which they are chosen.
const stacked = () => decided() === "models" && Boolean(at("model_column").value);
const models = new Set();
const showModels = chips("models", (name) => models.has(name), (name) => {
  if (!models.delete(name)) models.add(name);
  changed();
});

const show = () => {
  const scored = decided() === "score";
  at("by-score").hidden = !scored;
  at("by-prediction").hidden = decided() !== "prediction" && !stacked();
  at("by-models").hidden = decided() !== "models";
  at("models-apart").hidden = stacked();
  values();
  if (scored) histogram(); else at("histogram").replaceChildren();
  changed();
};
document.querySelectorAll("[name=decided]").forEach((choice) => choice.addEventListener("change", show));
at("model_column").addEventListener("change", show);
for (const role of ["y_true", "y_pred", "y_score"]) {
  at(role).addEventListener("change", () => {
    sample(role);
    if (role === "y_score") { at("threshold").value = ""; histogram(); } else values();
    changed();
  });
}

const values = async () => {
  const columns = {};
  if (at("y_true").value) columns.y_true = at("y_true").value;
  if (decided() === "prediction" && at("y_pred").value) columns.y_pred = at("y_pred").value;
  for (const role of ["y_true", "y_pred"]) {
    found[role] = null;
    at(`${role}-values`).replaceChildren(...(role in columns ? [make("p", { className: "hint" }, "counting its values …")] : []));
  }
  classed();
  if (!Object.keys(columns).length) return;
  try {
    const answer = await ask("values", { file, columns }, "values");
    for (const role of Object.keys(columns)) tick(role, answer[role]);
    // Where nobody can tell which of a few labels are positive, each is audited.
    const each = manyClasses() && found.y_true.positive === null && found.y_true.distinct === found.y_true.values.length;
    document.querySelector(`[name=classes][value="${each ? "all" : ""}"]`).checked = true;
  } catch (error) {
    if (error instanceof GivenUp) return;
    for (const role of Object.keys(columns)) at(`${role}-values`).replaceChildren(make("p", { className: "bad" }, error.message));
  }
  classed();
  changed();
};

// More than two labels can be classes, each of which is then audited against the rest.
const manyClasses = () => decided() === "prediction" && found.y_true?.distinct > 2 && found.y_pred !== null;
const byClass = () => manyClasses() && document.querySelector("[name=classes]:checked").value === "all";
const classed = () => {
  at("of-classes").hidden = !manyClasses();
  for (const role of ["y_true", "y_pred"]) at(`${role}-values`).hidden = byClass();
};
document.querySelectorAll("[name=classes]").forEach((choice) => choice.addEventListener("change", () => { classed(); changed(); }));

// Tick-boxes for the values that count as positive.
const tick = (role, counted) => {
  const place = at(`${role}-values`);
  if (counted.error) return place.replaceChildren(make("p", { className: "bad" }, counted.error));
  found[role] = counted;
  const boxes = counted.values.map(({ value, n }) => {
    const lacking = counted.lacking.includes(value);
    const box = make("input", { type: "checkbox", checked: !lacking && (counted.positive ?? counted.guessed).includes(value), disabled: lacking });
    box.meant = value;
    return make("label", { className: "value" }, box, make("span", {}, String(value)), make("span", { className: "n" }, lacking ? `${n.toLocaleString("en")}, taken as missing` : n.toLocaleString("en")));
  });
  const legend = make("legend", {}, labels.positive);
  const parts = [make("fieldset", { className: "values" }, legend, ...boxes)];
  if (counted.distinct === 1) {
    const other = make("input", { id: `${role}-other`, autocomplete: "off" });
    parts[0].append(make("label", { className: "other" }, "or another value, which does not occur ", other));
  }
  if (counted.positive === null) parts.push(make("p", { className: "hint" }, counted.guessed.length ? "Which values are positive is a guess; correct it if it is wrong." : "Which values are positive cannot be inferred; tick them."));
  if (counted.distinct > counted.values.length) parts.push(make("p", { className: "hint" }, `The ${counted.values.length} most frequent of ${several(counted.distinct, "value")} are shown; all others are negative. If these are scores, choose scores with a threshold.`));
  if (counted.missing) parts.push(make("p", { className: "hint" }, `${several(counted.missing, "row")} without a value ${counted.missing === 1 ? "is" : "are"} left out.`));
  place.replaceChildren(...parts);
};

// What is sent: nothing where the library infers the same.
const positive = (role) => {
  const counted = found[role];
  if (!counted) return null;
  const ticked = [...at(`${role}-values`).querySelectorAll("input[type=checkbox]:checked")].map((box) => box.meant);
  const other = at(`${role}-other`)?.value.trim();
  if (other) ticked.push(other);
  const inferred = counted.together && counted.distinct > 1 && same(ticked, counted.positive ?? []);
  return inferred ? null : ticked;
};

// The scores, with a line at each threshold; a click sets one.
let bars = null;
const histogram = async () => {
  const place = at("histogram");
  bars = null;
  place.replaceChildren();
  if (!at("y_score").value) return;
  place.append(make("p", { className: "hint" }, "counting scores …"));
  try {
    bars = await ask("scores", { file, column: at("y_score").value }, "scores");
    if (!at("threshold").value && bars.unit) at("threshold").value = "0.5";
    paint();
  } catch (error) {
    if (!(error instanceof GivenUp)) place.replaceChildren(make("p", { className: "bad" }, error.message));
  }
  changed();
};
const WIDE = 480, HIGH = 110;
const paint = () => {
  if (!bars) return;
  const low = bars.bars[0][0], high = bars.bars.at(-1)[1], most = Math.max(...bars.bars.map((bar) => bar[2]));
  const x = (value) => WIDE * (value - low) / (high - low);
  const typed = numbers(at("threshold").value) ?? [], lines = typed.filter((value) => value >= low && value <= high);
  const shapes = bars.bars.map(([from, to, n]) => draw("rect", { class: "bar", x: x(from) + .5, width: Math.max(x(to) - x(from) - 1, .5), y: HIGH - HIGH * n / most, height: HIGH * n / most }, draw("title", {}, `${from} to below ${to}: ${n.toLocaleString("en")}`)));
  const marks = lines.map((value) => draw("line", { class: "cut", x1: x(value), x2: x(value), y1: 0, y2: HIGH }));
  const picture = draw("svg", { viewBox: `0 -4 ${WIDE} ${HIGH + 24}`, role: "img", "aria-label": `Histogram of ${bars.n.toLocaleString("en")} scores from ${low} to ${high}` }, ...shapes, ...marks,
    draw("text", { x: 0, y: HIGH + 15 }, String(low)), draw("text", { x: WIDE, y: HIGH + 15, "text-anchor": "end" }, String(high)));
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect(), value = low + (high - low) * (event.clientX - box.left) / box.width;
    const edge = bars.bars.reduce((best, [from]) => Math.abs(from - value) < Math.abs(best - value) ? from : best, low);
    at("threshold").value = String(edge);
    paint();
    changed();
  });
  // Only at the edge of a bar is it known how many scores are at or above.
  const exact = typed.filter((value) => value < low || value > high || bars.bars.some(([from]) => from === value)).map((value) => {
    const n = bars.bars.filter(([from]) => from >= value).reduce((sum, bar) => sum + bar[2], 0);
    return `${n.toLocaleString("en")} of ${several(bars.n, "score")} (${(100 * n / bars.n).toFixed(1)}%) ${n === 1 ? "is" : "are"} at or above ${value}.`;
  });
  const notes = [...exact, ...(bars.missing ? [`${several(bars.missing, "row")} without a score ${bars.missing === 1 ? "is" : "are"} left out.`] : [])];
  const bare = bars.unit || at("threshold").value ? [] : ["These scores are not between 0 and 1, so they need a threshold: enter it, or click into the histogram."];
  at("histogram").replaceChildren(picture, ...[...bare, ...notes].map((note) => make("p", { className: "hint" }, note)));
};
at("threshold").addEventListener("input", () => { paint(); changed(); });

// What metrics can use.
export const usable = () => ({ labels: Boolean(at("y_true").value), scores: decided() === "score" && Boolean(at("y_score").value) });
// What an audit is asked for, or an error that says what is missing.
export const asked = () => {
  const fields = { y_true: at("y_true").value };
  if (byClass()) return { ...fields, y_pred: at("y_pred").value, classes: "all" };
  const ticked = (role, what) => {
    const chosen = positive(role);
    if (chosen && !chosen.length) throw new Error(`tick the ${what}s that count as positive`);
    return chosen ? { [`positive_${what}`]: chosen } : {};
  };
  if (fields.y_true) Object.assign(fields, ticked("y_true", "label"));
  if (decided() === "models") {
    if (!stacked() && models.size < 2) throw new Error("choose the columns of two or more models");
    if (!fields.y_true) throw new Error("choose the column of labels: models are compared by how often they are right");
    const { positive_label: positive, ...others } = fields;
    const compared = stacked() ? { model_column: at("model_column").value, y_pred: at("y_pred").value } : { models: Object.fromEntries([...models].map((name) => [name, name])) };
    return { ...others, ...(positive ? { positive } : {}), ...compared };
  }
  if (decided() === "score") {
    if (!at("y_score").value) throw new Error("choose the column of scores");
    const thresholds = numbers(at("threshold").value);
    if (!thresholds) throw new Error("a threshold must be a number; several are separated by commas");
    if (!thresholds.length && bars && !bars.unit) throw new Error("enter a threshold: scores at or above it are positive");
    return { ...fields, y_score: at("y_score").value, threshold: thresholds };
  }
  if (!at("y_pred").value) throw new Error("choose the column of predictions");
  return { ...fields, y_pred: at("y_pred").value, ...ticked("y_pred", "prediction") };
};
