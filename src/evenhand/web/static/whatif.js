// What if: the results follow the input, with a picture of what chance alone would give.
import { ask, at, decided, draw, GivenUp, make, say, short } from "./parts.js";

let metrics = [], answered = false;
export const offer = (all) => {
  metrics = all.filter((m) => !m.compares && m.needs !== "scores");
  at("imagined-metric").replaceChildren(...metrics.map((m) => new Option(`${m.name} (${m.key})`, m.key)));
  at("imagined-metric").value = "tpr";
};

const WIDE = 480, HIGH = 130, LEFT = 6;
const picture = (found) => {
  const spans = found.null?.bars ?? found.null?.atoms?.map(([score, chance, far]) => [score, score, chance, far]);
  at("null-figure").hidden = !spans;
  if (!spans) return;
  const low = spans[0][0], high = spans.at(-1)[1], most = Math.max(...spans.map((s) => s[2]));
  const x = (value) => LEFT + (WIDE - 2 * LEFT) * (high > low ? (value - low) / (high - low) : .5), y = (chance) => HIGH - HIGH * chance / most;
  const thick = found.null.atoms ? Math.max(2, Math.min(14, (WIDE - 2 * LEFT) / spans.length - 2)) : 0;
  const bars = spans.map(([from, to, chance, far]) => draw("rect", {
    class: far ? "bar far" : "bar",
    x: found.null.atoms ? x(from) - thick / 2 : x(from), width: found.null.atoms ? thick : Math.max(x(to) - x(from) - .5, .5), y: y(chance), height: HIGH - y(chance),
  }, draw("title", {}, found.null.atoms ? `${short(from)}: ${short(100 * chance)}%` : `${short(from)} to ${short(to)}: ${short(100 * chance)}%`)));
  const mark = x(found.score), end = mark > WIDE / 2 ? "end" : "start";
  at("null-picture").replaceChildren(draw("svg", { viewBox: `0 -22 ${WIDE} ${HIGH + 42}`, role: "img", "aria-labelledby": "null-caption" }, ...bars,
    draw("line", { class: "axis", x1: 0, x2: WIDE, y1: HIGH, y2: HIGH }), draw("line", { class: "cut", x1: mark, x2: mark, y1: -6, y2: HIGH }),
    draw("text", { x: mark + (end === "end" ? -3 : 3), y: -9, "text-anchor": end }, `observed ${short(found.score)}`),
    draw("text", { x: 0, y: HIGH + 15 }, short(low)), draw("text", { x: WIDE, y: HIGH + 15, "text-anchor": "end" }, short(high))));
  at("null-caption").textContent = `Scores of groups with ${found.given} that are drawn like the reference, by their probability. Bars in the second colour lie at or beyond the observed score.`;
};

// What is shown belongs to what was typed before.
const old = (is) => ["answer", "null-figure"].forEach((id) => at(id).classList.toggle("old", is));
const cells = (who) => [0, 1, 2, 3].map((i) => at(who + i).value.trim() || 0);
export const imagine = async () => {
  at("imagined-formula").textContent = metrics.find((m) => m.key === at("imagined-metric").value)?.formula ?? "";
  answered = false;
  say("computing …", false, "imagined-message");
  old(true);
  try {
    const found = await ask("what-if", { group: cells("g"), reference: cells("r"), metric: at("imagined-metric").value, strength: at("imagined-strength").value.trim() || 0 }, "what-if");
    say("", false, "imagined-message");
    old(false);
    picture(found);
    const rows = [
      ["score", found.reason ? `undefined: ${found.reason}` : short(found.score)],
      ["95% interval", `${short(found.low)} to ${short(found.high)}`],
      ["reference’s score", short(found.reference)],
      ["gap to the reference, and its 95% interval", `${short(found.gap)}, ${short(found.gap_low)} to ${short(found.gap_high)}`],
      ["p-value for equal scores", decided(found.pvalue)],
      ["share of groups drawn like the reference that score this or lower", found.percentile === null ? "none" : `${short(100 * found.percentile)}%`],
      ["smoothed score", short(found.smoothed) + (found.shrinkage === null ? "" : `, which keeps ${short(100 * found.shrinkage)} % of an expected gap`)],
      ["probability of an undefined score at this size", `${short(100 * found.undefined)}%`],
    ];
    at("answer").tBodies[0].replaceChildren(...rows.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value))));
    at("answer").hidden = false;
    answered = true;
  } catch (error) {
    if (error instanceof GivenUp) return;
    answered = true;
    at("null-figure").hidden = at("answer").hidden = true;
    say(error.message, true, "imagined-message");
  }
};
// What was given up for the other tab is asked again.
export const enter = () => { if (!answered) imagine(); };
let waiting = null;
at("imagined").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(imagine, 80);
});
at("imagined").addEventListener("submit", (event) => event.preventDefault());
