// The report, in the whole window below a thin bar.
import { at, make, several } from "./parts.js";

let shown = false;
export const show = (found) => {
  at("found").textContent = found.monitor
    ? `Monitor of ${found.monitor}${found.new ? "" : "; this batch was added before, and nothing changed"}`
    : `${found.title ? `${found.title}: ` : "Audit of "}${found.extent}`;
  at("get-json").textContent = found.monitor ? "JSON, the new state" : "JSON, to repeat the audit";
  at("report").title = `Report of the ${found.monitor ? "monitor" : "audit"}`;
  for (const kind of ["html", "json", "csv", "md"]) at(`get-${kind}`).href = `report/${found.audit}.${kind}?download`;
  at("alone").href = `report/${found.audit}.html`;
  at("changes").hidden = !found.changes;
  at("changes-count").textContent = found.changes?.length ? `Changed: ${several(found.changes.length, "difference")}` : "Nothing changed";
  at("changes-list").replaceChildren(...(found.changes?.length ? found.changes : ["The data, the versions and all numbers are those of the saved audit."]).map((change) => make("li", {}, change)));
  at("report").src = `report/${found.audit}.html`;
  shown = true;
  at("reopen").hidden = false;
  if (location.hash === "#report") turn(); else location.hash = "report";
};
export const clear = () => {
  shown = false;
  at("reopen").hidden = true;
  at("report").removeAttribute("src");
  for (const kind of ["html", "json", "csv", "md"]) at(`get-${kind}`).removeAttribute("href");
  if (location.hash === "#report") history.replaceState(null, "", location.pathname);
  turn();
};
const turn = () => {
  const here = shown && location.hash === "#report";
  at("view").hidden = !here;
  at("start").hidden = here;
  document.body.classList.toggle("reporting", here);
  if (here) at("found").focus();
};
addEventListener("hashchange", turn);
if (location.hash === "#report") history.replaceState(null, "", location.pathname);
at("reopen").addEventListener("click", () => { location.hash = "report"; });
at("back").addEventListener("click", () => {
  history.replaceState(null, "", location.pathname);
  turn();
  at("reopen").focus();
});

// One menu is open at a time; Escape and a click elsewhere close it.
const menus = [...document.querySelectorAll("details.menu")];
menus.forEach((menu) => menu.addEventListener("toggle", () => menu.open && menus.forEach((other) => { if (other !== menu) other.open = false; })));
addEventListener("keydown", (event) => {
  const open = menus.find((menu) => menu.open);
  if (event.key !== "Escape" || !open) return;
  open.open = false;
  open.querySelector("summary").focus();
});
addEventListener("click", (event) => menus.forEach((menu) => { if (!menu.contains(event.target)) menu.open = false; }));
addEventListener("blur", () => menus.forEach((menu) => { menu.open = false; }));
document.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", async () => {
  const said = at(button.dataset.said ?? "copied");
  try {
    await navigator.clipboard.writeText(at(button.dataset.copy).textContent);
    said.textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(at(button.dataset.copy));
    said.textContent = "Selected; copy it with Ctrl-C.";
  }
}));
