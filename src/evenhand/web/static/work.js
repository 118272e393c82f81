// The bar that shows what is being done, and the button that gives it up.
import { at, giveUp, say, several } from "./parts.js";

let stop = null;
export const busy = (text, onStop) => {
  stop = onStop;
  say("");
  at("work").hidden = false;
  at("go").disabled = true;
  at("progress").removeAttribute("value");
  at("doing").textContent = text;
  at("work").scrollIntoView({ block: "nearest" });
};
export const idle = () => {
  at("work").hidden = true;
  stop = null;
};
export const share = (done, total) => {
  if (total) Object.assign(at("progress"), { max: total, value: done });
  else at("progress").removeAttribute("value");
};
export const tell = (now) => {
  share(now.done, now.total);
  if (now.state === "waiting") at("doing").textContent = "waiting for other work to finish";
  else if (now.what) at("doing").textContent = now.total ? `${now.what}: ${now.done.toLocaleString("en")} of ${several(now.total, "step")}`.replace(/: (\d+) of 100 steps$/, ": $1%") : now.what;
};
export const stopper = (job) => { stop = () => giveUp(job); };
export const halt = () => stop?.();
at("cancel").addEventListener("click", halt);
