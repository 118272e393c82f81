// The monitor: the form of an audit, with a state that the next batch is added to.
import { at } from "./parts.js";

let state = null;
export const on = () => document.body.classList.contains("monitoring");
const show = (said) => {
  document.body.classList.toggle("begun", Boolean(state));
  at("state-hint").textContent = said;
  at("forget").hidden = !state;
};
export const turn = (is) => {
  document.body.classList.toggle("monitoring", is);
  at("go").textContent = is ? "Add the batch" : "Audit";
};
const forget = () => { state = null; at("state").value = ""; show("A new monitor is begun."); };
at("forget").addEventListener("click", forget);
at("state").addEventListener("change", async () => {
  const [file] = at("state").files;
  if (!file) return forget();
  state = await file.text();
  show(`${file.name}: columns and metrics are those of its first batch.`);
});
// The next batch goes into the monitor that is shown.
export const added = async (found) => {
  state = await (await fetch(`report/${found.audit}.json`)).text();
  at("batch").value = at("state").value = "";
  show(`The monitor of ${found.monitor.split(",")[0]}: the next batch is added to it.`);
};
export const asked = (columns) => {
  const name = at("batch").value.trim();
  if (!name) throw new Error("say what this batch is called, such as its week");
  return { at: name, state, ...(state ? {} : { cluster: at("cluster").value, ...columns() }) };
};
forget();
