// Columns within whose values groups are compared, and the column of weights.
import { at } from "./parts.js";
import { chips } from "./chips.js";

const within = new Set();
const tell = () => {
  const parts = [...within, ...(at("weights").value ? [`weighted by ${at("weights").value}`] : [])];
  at("strata-chosen").textContent = parts.length ? `: ${parts.join(", ")}` : "";
};
const show = chips("within", (name) => within.has(name), (name) => {
  if (!within.delete(name)) within.add(name);
  tell();
});
at("weights").addEventListener("change", tell);

export const offer = (columns) => {
  within.clear();
  at("strata").hidden = !columns;
  at("weights").replaceChildren(new Option("none", ""), ...(columns ?? []).map(({ name }) => new Option(name, name)));
  show((columns ?? []).map(({ name }) => name));
  tell();
};
export const asked = () => ({ within: [...within], weights: at("weights").value });
