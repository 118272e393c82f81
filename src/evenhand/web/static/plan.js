// Plan: a question, and its answer in words and as a picture.
import { ask, at, GivenUp, later, make, progress, say } from "./parts.js";
const WIDE = 480, HIGH = 150, form = at("planned"), answer = at("planned-answer"), message = at("planned-message");

// Only the fields that belong to the question; a comparison of two groups can only be gamed.
const arrange = () => {
  const question = form.elements.question.value, list = form.elements.metric;
  for (const field of form.querySelectorAll("[data-asks]")) field.hidden = !field.dataset.asks.split(" ").includes(question);
  for (const option of list.querySelectorAll("[data-pair]")) option.hidden = option.disabled = question !== "exploit";
  if (list.selectedOptions[0]?.disabled ?? true) list.value = "tpr";
  at("planned-formula").textContent = list.selectedOptions[0].title;
};

const shape = (tag, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};
const short = (number) => String(Number(number.toPrecision(3)));
const draw = ({ x, lines, goal, axis, caption }) => {
  const values = lines.flat().filter((value) => value !== null), first = x[0], last = x.at(-1);
  const low = Math.min(0, goal, ...values), high = Math.max(goal ?? 0, ...values), room = high - low || 1;
  const height = (value) => 5 + (HIGH - 10) * (1 - (value - low) / room);
  const points = (line) => line.flatMap((value, i) => value === null ? [] : [`${WIDE * (x[i] - first) / (last - first || 1)},${height(value)}`]);
  const shapes = lines.map((line) => shape("polyline", { points: points(line).join(" ") }));
  if (goal !== null) shapes.push(shape("line", { x1: 0, x2: WIDE, y1: height(goal), y2: height(goal) }));
  answer.querySelector("svg").replaceChildren(...shapes);
  answer.querySelector(".scale").replaceChildren(...[short(first), axis, short(last)].map((text) => make("span", {}, text)));
  at("caption").textContent = `${caption}, between ${short(low)} and ${short(high)}${goal === null ? "" : `; dashed: ${short(goal)}`}.`;
};

let isAnswered = false;
const plan = async () => {
  const data = new FormData(form), tell = (now) => say(message, progress(now) || "computing …");
  isAnswered = false;
  tell({ progress: ["", 0, 0] });
  try {
    const found = await ask("plan", { ...Object.fromEntries(data), cells: data.getAll("cells") }, { tell });
    say(message, "");
    answer.querySelector("output").textContent = found.text;
    answer.querySelector("figure").hidden = !found.picture;
    if (found.picture) draw(found.picture);
    answer.hidden = false;
  } catch (error) {
    if (error instanceof GivenUp) return;
    say(message, error.message, true);
    answer.hidden = true;
  }
  isAnswered = true;
};
export const enter = () => { if (!isAnswered) plan(); };
for (const call of [arrange, later(plan)]) form.addEventListener("input", call);
form.addEventListener("submit", (event) => event.preventDefault());
arrange();
