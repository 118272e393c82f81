// Columns to choose from, a few at a time, with a field that finds one among many.
import { at, make, several } from "./parts.js";

const MOST = 40;
export const picks = (name, changed = () => {}) => {
  const [search, list, more] = ["input", "div", "p"].map((tag) => at(name).querySelector(tag));
  let columns = [], chosen = [];
  const paint = () => {
    const wanted = search.value.trim().toLowerCase();
    const others = columns.filter((column) => !chosen.includes(column) && column.toLowerCase().includes(wanted));
    const chips = [...chosen, ...others.slice(0, MOST)].map((value) => {
      const box = make("input", { type: "checkbox", name, value, checked: chosen.includes(value) });
      box.addEventListener("change", () => {
        chosen = box.checked ? [...chosen, value] : chosen.filter((column) => column !== value);
        changed(chosen);
      });
      return make("label", { className: "chip" }, box, value);
    });
    list.replaceChildren(...chips);
    const left = others.length - MOST;
    more.textContent = left > 0 ? `and ${several(left, "more column")}; type to find one` : "";
    search.hidden = columns.length <= 12;
  };
  search.addEventListener("input", paint);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    list.querySelector("input:not(:checked)")?.click();
  });
  return (names, first = []) => {
    [columns, chosen, search.value] = [names, first, ""];
    paint();
    changed(chosen);
  };
};
