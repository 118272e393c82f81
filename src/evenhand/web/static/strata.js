// Columns within whose values groups are compared, and columns that say what a row is worth.
import { at } from "./parts.js";
import { chips } from "./chips.js";

const within = new Set();
const tell = () => {
  const { weights, count } = { weights: at("weights").value, count: at("count").value };
  const parts = [...within, ...(weights ? [`weighted by ${weights}`] : []), ...(count === "1" ? ["each row is one case"] : count ? [`counted by ${count}`] : [])];
  at("strata-chosen").textContent = parts.length ? `: ${parts.join(", ")}` : "";
};
const show = chips("within", (name) => within.has(name), (name) => {
  if (!within.delete(name)) within.add(name);
  tell();
});
for (const id of ["weights", "count"]) at(id).addEventListener("change", tell);

export const offer = (columns, unit) => {
  within.clear();
  at("strata").hidden = !columns;
  const names = (columns ?? []).map(({ name }) => name);
  const own = { unit: [new Option("each row by itself", "")], weights: [new Option("none", "")], count: [new Option("not said", ""), new Option("each row is one case", "1")] };
  for (const id of ["unit", "weights", "count"]) at(id).replaceChildren(...own[id], ...names.map((name) => new Option(name, name)));
  at("unit").value = unit ?? "";
  show(names);
  tell();
};
export const asked = () => ({ within: [...within], unit: at("unit").value, weights: at("weights").value, count: at("count").value });
