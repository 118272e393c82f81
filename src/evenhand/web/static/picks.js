// Columns to choose from, a few at a time, with a field that finds one among many.
import { at, make, several } from "./parts.js";
const MOST = 40;
export const picks = (name, changed = () => {}) => {
  const [search, list, more] = ["input", "div", "p"].map((tag) => at(name).querySelector(tag));
  let columns = [], chosen = [];
  const chip = (value) => {
    const box = make("input", { type: "checkbox", name, value, checked: chosen.includes(value) });
    box.addEventListener("change", () => {
      chosen = box.checked ? [...chosen, value] : chosen.filter((column) => column !== value);
      changed(chosen);
    });
    return make("label", { className: "chip" }, box, value);
  };
  const paint = () => {
    const wanted = search.value.trim().toLowerCase();
    const others = columns.filter((column) => !chosen.includes(column) && column.toLowerCase().includes(wanted));
    list.replaceChildren(...[...chosen, ...others.slice(0, MOST)].map(chip));
    more.textContent = others.length > MOST ? `and ${several(others.length - MOST, "more column")}; type to find one` : "";
  };
  search.addEventListener("input", paint);
  return (names, first = []) => {
    [columns, chosen, search.value, search.hidden] = [names, first, "", names.length <= 12];
    paint();
    changed(chosen);
  };
};
