// Plan: a question, its answer in sentences with a picture, and the call and the command that give it.
import { ask, at, draw, GivenUp, make, say, several, short } from "./parts.js";

let metrics = [], answered = false;
export const offer = (all) => {
  metrics = all.filter((m) => !m.distance && m.needs !== "scores");
  fields();
};
const question = () => document.querySelector("[name=question]:checked").value;
const known = () => document.querySelector("[name=planned-reference]:checked").value === "rates";

// Only the fields that belong to the question; a comparison of two groups can only be gamed.
const fields = () => {
  document.querySelectorAll("[data-asks]").forEach((field) => { field.hidden = !field.dataset.asks.split(" ").includes(question()); });
  at("planned-counts").hidden = known();
  at("planned-rates").hidden = !known();
  const list = at("planned-metric"), before = list.value || "tpr";
  list.replaceChildren(...metrics.filter((m) => !m.compares || question() === "exploit").map((m) => new Option(`${m.name} (${m.key})`, m.key)));
  list.value = [...list.options].some((o) => o.value === before) ? before : "tpr";
  at("planned-formula").textContent = metrics.find((m) => m.key === list.value)?.formula ?? "";
};

const typed = (id) => at(id).value.trim();
const asked = () => ({
  question: question(),
  metric: at("planned-metric").value,
  ...(known() ? { rates: ["k0", "k1", "k2"].map(typed) } : { reference: ["p0", "p1", "p2", "p3"].map((id) => typed(id) || 0) }),
  ...Object.fromEntries(["n", "from", "to", "difference", "power", "alpha", "threshold"].map((name) => [name, typed(`planned-${name}`)])),
});

const WIDE = 480, HIGH = 150, LEFT = 6, TOP = 16;
const picture = (drawn) => {
  at("planned-figure").hidden = !drawn;
  if (!drawn) return;
  const xs = drawn.curve.map(([x]) => x), first = xs[0], last = xs.at(-1), room = (drawn.high - drawn.low) || 1;
  const x = (value) => LEFT + (WIDE - 2 * LEFT) * (last > first ? (value - first) / (last - first) : .5);
  const y = (value) => TOP + (HIGH - TOP) * (1 - (value - drawn.low) / room);
  const at2 = (points) => points.map(([a, b]) => `${x(a).toFixed(2)},${y(b).toFixed(2)}`).join(" ");
  const bands = (drawn.bands ?? []).map((band) => draw("polygon", { class: "band", points: at2([...band.map(([n, low]) => [n, low]), ...band.map(([n, , high]) => [n, high]).reverse()]) }));
  const seen = drawn.goal !== null && drawn.goal >= drawn.low && drawn.goal <= drawn.high;
  const goal = seen ? [draw("line", { class: "goal", x1: 0, x2: WIDE, y1: y(drawn.goal), y2: y(drawn.goal) })] : [];
  const marks = drawn.marks.filter(([a]) => a >= first && a <= last).flatMap(([a, b, text]) => [
    draw("circle", { class: "dot", cx: x(a), cy: y(b), r: 4 }, draw("title", {}, `${short(a)}: ${short(b)}`)),
    ...(text ? [draw("text", { x: x(a), y: y(b) - 7, "text-anchor": x(a) > WIDE - 40 ? "end" : x(a) < 40 ? "start" : "middle" }, text)] : []),
  ]);
  const ends = [draw("text", { x: 0, y: HIGH + 15 }, short(first)), draw("text", { x: WIDE / 2, y: HIGH + 15, "text-anchor": "middle" }, drawn.axis), draw("text", { x: WIDE, y: HIGH + 15, "text-anchor": "end" }, short(last))];
  at("planned-picture").replaceChildren(
    make("p", { className: "scale" }, `${short(drawn.low)} to ${short(drawn.high)}, bottom to top`),
    draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH + 20}`, role: "img", "aria-labelledby": "planned-caption" }, ...bands,
      draw("line", { class: "axis", x1: 0, x2: WIDE, y1: HIGH, y2: HIGH }), ...goal, draw("polyline", { class: "curve", points: at2(drawn.curve) }), ...marks, ...ends));
  at("planned-caption").textContent = drawn.caption.replaceAll(" %", "\u00a0%");
};

const PARTS = ["planned-answer", "planned-figure", "planned-again"];
const tell = (now) => {
  if (now.state === "working" && now.what) say(now.total ? `${now.what}: ${now.done.toLocaleString("en")} of ${several(now.total, "step")}` : `${now.what} …`, false, "planned-message");
};
export const plan = async () => {
  answered = false;
  say("computing …", false, "planned-message");
  PARTS.forEach((id) => at(id).classList.add("old"));
  try {
    const found = await ask("plan", asked(), "what-if", { tell });
    say("", false, "planned-message");
    at("planned-answer").replaceChildren(...found.sentences.map((sentence) => make("p", {}, sentence.replaceAll(" %", "\u00a0%"))));
    picture(found.picture);
    at("planned-python").textContent = found.python;
    at("planned-command").textContent = found.command ?? "none: the command would take these rates for counts";
    at("planned-answer").hidden = at("planned-again").hidden = false;
    PARTS.forEach((id) => at(id).classList.remove("old"));
    answered = true;
  } catch (error) {
    if (error instanceof GivenUp) return;
    answered = true;
    PARTS.forEach((id) => { at(id).hidden = true; });
    say(error.message, true, "planned-message");
  }
};
export const enter = () => { if (!answered) plan(); };

let waiting = null;
at("planned").addEventListener("input", () => {
  fields();
  clearTimeout(waiting);
  waiting = setTimeout(plan, 200);
});
at("planned").addEventListener("submit", (event) => event.preventDefault());
