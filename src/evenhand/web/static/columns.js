// Labels, predictions and scores: which columns, and which of their values are positive.
import { ask, at, bad, GivenUp, hint, later, make, offer, several, setup, show, sizes } from "./parts.js";
import { picks } from "./picks.js";

const ROLES = { y_true: "positive_label", y_pred: "positive_prediction" };
let file = null, kinds = {}, counted = {};
const offerModels = picks("models"), offerStrata = picks("strata");

export const offerColumns = (seen) => {
  [file, kinds, counted] = [seen.file, seen.columns, {}];
  const { guesses } = seen, names = Object.keys(kinds);
  for (const select of document.querySelectorAll("select.column")) {
    offer(select, names.map((name) => [name, name]));
    select.value = guesses[select.name] ?? "";
  }
  setup.count.value = "";
  setup.cluster.value = guesses.model_column ? guesses.cluster ?? "" : "";
  setup.decided.value = guesses.model_column ? "models" : guesses.y_score && !guesses.y_pred ? "score" : "prediction";
  setup.threshold.value = kinds[setup.y_score.value] === "probabilities" ? "0.5" : "";
  offerModels(names);
  offerStrata(names);
  count();
  countScores();
};

const isStacked = () => setup.decided.value === "models" && setup.model_column.value !== "";
const hasClasses = () => setup.decided.value === "prediction" && counted.y_true?.distinct > 2 && counted.y_pred;
// Only the fields that belong to what was chosen.
export const arrange = () => {
  const decided = setup.decided.value;
  show(at("by-models"), decided === "models");
  show(at("models"), !isStacked());
  show(at("by-prediction"), decided === "prediction" || isStacked());
  show(at("by-score"), decided === "score");
  show(at("of-classes"), hasClasses());
  const isEach = hasClasses() && setup.classes.value === "all";
  show(at("y_true-values"), counted.y_true && !isEach);
  show(at("y_pred-values"), counted.y_pred && !isEach && decided === "prediction");
};

const count = async () => {
  const columns = {};
  counted = {};
  arrange();
  if (setup.y_true.value) columns.y_true = setup.y_true.value;
  if (setup.decided.value === "prediction" && setup.y_pred.value) columns.y_pred = setup.y_pred.value;
  try {
    const answer = Object.keys(columns).length ? await ask("values", { file, columns }) : {};
    for (const role of Object.keys(columns)) tick(role, answer[role]);
    // Where nobody can tell which of a few labels are positive, each is audited.
    const { y_true: labels } = counted;
    setup.classes.value = hasClasses() && labels.is_guess && labels.distinct === labels.values?.length ? "all" : "";
  } catch (error) {
    if (error instanceof GivenUp) return;
    tick("y_true", error);
  }
  arrange();
  at("setup").dispatchEvent(new Event("arranged"));
};

// Tick boxes for the values that count as positive.
const tick = (role, seen) => {
  const place = at(`${role}-values`), name = ROLES[role];
  counted[role] = seen;
  if (!seen.values) return place.replaceChildren(bad(seen.error ?? seen.message));
  const boxes = seen.values.map(({ value, n }) => {
    const disabled = seen.lacking.includes(value), text = n.toLocaleString("en");
    const checked = !disabled && seen.positive.includes(value);
    const box = make("input", { type: "checkbox", name, value: JSON.stringify(value), checked, disabled });
    return make("label", { className: "tick" }, box, make("span", {}, String(value)), disabled ? `${text}, taken as missing` : text);
  });
  const notes = [];
  if (seen.is_guess) notes.push(seen.positive.length ? "Which values are positive is a guess; correct it if it is wrong." : "Which values are positive cannot be inferred; tick them.");
  if (seen.distinct > boxes.length) notes.push(`The most frequent of ${several(seen.distinct, "value")}; all others are negative. If these are scores, choose scores with a threshold.`);
  if (seen.missing) notes.push(`without a value, and left out: ${several(seen.missing, "row")}`);
  const other = make("label", { hidden: seen.distinct !== 1 }, "or another value, which does not occur", make("input", { name: `other_${name}` }));
  place.replaceChildren(make("legend", {}, "Counts as positive"), ...boxes, other, ...notes.map(hint));
};

// How many scores are below, between and above the thresholds.
const countScores = async () => {
  const place = at("score-sizes"), column = setup.y_score.value, cuts = setup.threshold.value.trim();
  place.replaceChildren();
  if (!column || !cuts || setup.decided.value !== "score") return;
  try {
    place.replaceChildren(...sizes(await ask("bins", { file, column, cuts }, { slot: "scores" })));
  } catch (error) {
    if (!(error instanceof GivenUp)) place.replaceChildren(bad(error.message));
  }
};

setup.y_true.addEventListener("change", count);
setup.y_pred.addEventListener("change", count);
setup.model_column.addEventListener("change", arrange);
setup.decided.forEach((choice) => choice.addEventListener("change", () => { count(); countScores(); }));
setup.classes.forEach((choice) => choice.addEventListener("change", arrange));
setup.threshold.addEventListener("input", later(countScores));
setup.y_score.addEventListener("change", () => {
  setup.threshold.value = kinds[setup.y_score.value] === "probabilities" ? "0.5" : "";
  countScores();
});

// Which values were ticked, by the name of the setting.
export const ticked = (data) => {
  const asked = {};
  for (const [role, name] of Object.entries(ROLES)) {
    if (at(`${role}-values`).matches(":disabled")) continue;
    asked[name] = [...data.getAll(name).map((value) => JSON.parse(value)), ...data.getAll(`other_${name}`).filter(Boolean)];
    if (!asked[name].length) throw new Error(`tick the values of ${setup[role].value} that count as positive`);
  }
  if (setup.decided.value !== "models") return asked;
  return { positive: asked.positive_label, models: Object.fromEntries(data.getAll("models").map((name) => [name, name])) };
};
