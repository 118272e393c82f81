// Columns within whose values groups are compared, and columns that say what a row is worth.
import { at } from "./parts.js";
import { chips } from "./chips.js";

const chosen = new Set();
const tell = () => {
  const { weights, count } = { weights: at("sample_weight").value, count: at("count").value };
  const parts = [...chosen, ...(weights ? [`weighted by ${weights}`] : []), ...(count === "1" ? ["each row is one case"] : count ? [`counted by ${count}`] : [])];
  at("more-columns-chosen").textContent = parts.length ? `: ${parts.join(", ")}` : "";
};
const show = chips("strata", (name) => chosen.has(name), (name) => {
  if (!chosen.delete(name)) chosen.add(name);
  tell();
});
for (const id of ["sample_weight", "count"]) at(id).addEventListener("change", tell);

export const offer = (columns, cluster) => {
  chosen.clear();
  at("more-columns").hidden = !columns;
  const names = (columns ?? []).map(({ name }) => name);
  const own = { cluster: [new Option("each row by itself", "")], sample_weight: [new Option("none", "")], count: [new Option("not said", ""), new Option("each row is one case", "1")] };
  for (const id of ["cluster", "sample_weight", "count"]) at(id).replaceChildren(...own[id], ...names.map((name) => new Option(name, name)));
  at("cluster").value = cluster ?? "";
  show(names);
  tell();
};
export const asked = () => ({ strata: [...chosen], cluster: at("cluster").value, sample_weight: at("sample_weight").value, count: at("count").value });
