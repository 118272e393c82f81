// Columns to choose from as chips, with a field that finds one among many.
import { at, make, several } from "./parts.js";

const MOST = 40;
// The chips of a role: `chosen` says whether a column is, `toggle` changes that. What is returned shows them again.
export const chips = (role, chosen, toggle) => {
  let columns = [];
  const show = () => {
    const wanted = at(`${role}-search`).value.trim().toLowerCase();
    const matching = columns.filter((name) => name.toLowerCase().includes(wanted)).sort((a, b) => chosen(b) - chosen(a));
    at(`${role}-chips`).replaceChildren(...matching.slice(0, MOST).map((name) => {
      const chip = make("button", { type: "button", className: "chip" }, name);
      chip.setAttribute("aria-pressed", chosen(name));
      chip.addEventListener("click", () => {
        toggle(name);
        chip.setAttribute("aria-pressed", chosen(name));
      });
      return chip;
    }));
    const more = matching.length - MOST;
    at(`${role}-more`).textContent = more > 0 ? `and ${several(more, "more column")}; type to find one` : matching.length ? "" : "no column is called that";
  };
  at(`${role}-search`).addEventListener("input", show);
  at(`${role}-search`).addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    at(`${role}-chips`).querySelector("button")?.click();
  });
  return (names) => {
    if (names) {
      columns = names;
      at(`${role}-search`).value = "";
    }
    show();
  };
};
