// Labels, predictions and scores: which columns, and which of their values are positive.
import { ask, at, attempt, later, make, note, offer, several, setup, show, sizes } from "./parts.js";
import { picks } from "./picks.js";
const ROLES = { y_true: "positive_label", y_pred: "positive_prediction" };
const offerModels = picks("models"), offerStrata = picks("strata");
let file = null, kinds = {}, counted = {};
export const offerColumns = (seen) => {
  [file, kinds, counted] = [seen.file, seen.columns, {}];
  const { guesses } = seen, names = Object.keys(kinds), isStacked = guesses.model_column !== null;
  for (const select of document.querySelectorAll("select.column")) {
    offer(select, names.map((name) => [name, name]));
    const isGuess = select.name !== "count" && (select.name !== "cluster" || isStacked);
    select.value = isGuess ? guesses[select.name] ?? "" : "";
  }
  setup.decided.value = isStacked ? "models" : guesses.y_score && !guesses.y_pred ? "score" : "prediction";
  offerModels(names);
  offerStrata(names);
  count();
  chooseScores();
};
// Only the fields that belong to what was chosen.
const hasClasses = () => setup.decided.value === "prediction" && counted.y_true?.distinct > 2 && counted.y_pred;
export const arrange = () => {
  const decided = setup.decided.value, isStacked = decided === "models" && setup.model_column.value !== "";
  const isEach = hasClasses() && setup.classes.value === "all";
  show(at("by-models"), decided === "models");
  show(at("models"), !isStacked);
  show(at("by-prediction"), decided === "prediction" || isStacked);
  show(at("by-score"), decided === "score");
  show(at("of-classes"), hasClasses());
  show(at("y_true-values"), counted.y_true && !isEach);
  show(at("y_pred-values"), counted.y_pred && !isEach && decided === "prediction");
  at("setup").dispatchEvent(new Event("arranged"));
};

const count = () => attempt(at("y_true-values"), async () => {
  const columns = {}, labels = setup.y_true.value, predictions = setup.y_pred.value;
  counted = {};
  arrange();
  if (labels) columns.y_true = labels;
  if (predictions && setup.decided.value === "prediction") columns.y_pred = predictions;
  const answer = Object.keys(columns).length ? await ask("values", { file, columns }) : {};
  for (const role of Object.keys(columns)) tick(role, answer[role]);
  // Where nobody can tell which of a few labels are positive, each is audited.
  const { is_guess, distinct, values } = counted.y_true ?? {};
  setup.classes.value = hasClasses() && is_guess && distinct === values?.length ? "all" : "";
  arrange();
});
// Tick boxes for the values that count as positive.
const tick = (role, seen) => {
  const place = at(`${role}-values`), name = ROLES[role], notes = [];
  counted[role] = seen;
  if (seen.error) return place.replaceChildren(note(seen.error, "bad"));
  const boxes = seen.values.map(({ value, n }) => {
    const disabled = seen.lacking.includes(value), checked = seen.positive.includes(value);
    const box = make("input", { type: "checkbox", name, value: JSON.stringify(value), checked, disabled });
    const size = n.toLocaleString("en") + (disabled ? ", taken as missing" : "");
    return make("label", { className: "flag" }, box, make("span", {}, String(value)), size);
  });
  const guess = seen.positive.length ? "is a guess; correct it if it is wrong." : "cannot be inferred; tick them.";
  if (seen.is_guess) notes.push(`Which values are positive ${guess}`);
  if (seen.distinct > boxes.length) notes.push(`All others of ${several(seen.distinct, "value")} are negative.`);
  if (seen.missing) notes.push(`without a value, and left out: ${several(seen.missing, "row")}`);
  const other = make("input", { name: `other_${name}` });
  boxes.push(make("label", { hidden: seen.distinct !== 1 }, "or another value, which does not occur", other));
  place.replaceChildren(make("legend", {}, "Counts as positive"), ...boxes, ...notes.map((text) => note(text)));
};
// How many scores are below, between and above the thresholds.
const countScores = () => attempt(at("score-sizes"), async () => {
  const column = setup.y_score.value, cuts = setup.threshold.value.trim();
  const isAsked = column && cuts && setup.decided.value === "score";
  at("score-sizes").replaceChildren(...isAsked ? sizes(await ask("bins", { file, column, cuts }, { slot: "scores" })) : []);
});
const chooseScores = () => {
  setup.threshold.value = kinds[setup.y_score.value] === "probabilities" ? "0.5" : "";
  countScores();
};
const on = (fields, kind, call) => fields.forEach((field) => field.addEventListener(kind, call));
on([setup.y_true, setup.y_pred, ...setup.decided], "change", count);
on([setup.model_column, ...setup.classes], "change", arrange);
on([setup.y_score, ...setup.decided], "change", chooseScores);
on([setup.threshold], "input", later(countScores));

// Which values were ticked, by the name of the setting.
export const ticked = (data) => {
  const asked = {}, models = Object.fromEntries(data.getAll("models").map((name) => [name, name]));
  for (const [role, name] of Object.entries(ROLES)) {
    if (at(`${role}-values`).disabled) continue;
    asked[name] = [...data.getAll(name).map((value) => JSON.parse(value)), ...data.getAll(`other_${name}`).filter(Boolean)];
    if (!asked[name].length) throw new Error(`tick the values of ${setup[role].value} that count as positive`);
  }
  return data.get("decided") === "models" ? { positive: asked.positive_label, models } : asked;
};
