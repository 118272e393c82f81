// A card for each column of groups: its values, bins, names, and what they are compared with.
import { ask, at, attempt, later, make, offer, setup, sizes } from "./parts.js";
import { picks } from "./picks.js";
const MOST_CROSSED = 400, cards = new Map(), crossing = at("crossing").querySelector("select");
let file = null, kinds = {};

const add = (name, counted) => {
  const card = at("group-card").content.firstElementChild.cloneNode(true);
  const [cuts, reference, names, place] = [".cuts", ".reference", ".names", ".sizes"].map((part) => card.querySelector(part));
  const group = { card, cuts, reference, names, place, values: [] };
  card.querySelector("legend").textContent = name;
  cuts.parentElement.hidden = !["numbers", "probabilities"].includes(kinds[name]);
  cuts.addEventListener("input", later(() => count(name, group)));
  names.addEventListener("input", () => refresh(group));
  cards.set(name, group);
  at("group-cards").append(card);
  if (counted) fill(group, counted);
  else count(name, group);
};
const choose = (names) => {
  for (const [name, { card }] of cards) if (!names.includes(name) && cards.delete(name)) card.remove();
  for (const name of names) if (!cards.has(name)) add(name);
  cross();
};
const pick = picks("groups", choose);
export const offerGroups = (seen) => {
  choose([]);
  [file, kinds] = [seen.file, seen.columns];
  pick(Object.keys(kinds), seen.guesses.groups);
};
// The groups of a table of counts are known.
export const offerCounts = (groups) => {
  [file, kinds] = [null, {}];
  pick([]);
  for (const [name, counted] of Object.entries(groups)) add(name, counted);
};

const count = (name, group) => attempt(group.place, async () => {
  const cuts = group.cuts.value.trim(), slot = `group ${name}`;
  const answer = cuts ? await ask("bins", { file, column: name, cuts }, { slot })
    : (await ask("values", { file, columns: { group: name } }, { slot })).group;
  if (answer.error) throw new Error(answer.error);
  fill(group, answer);
});
const fill = (group, counted) => {
  group.values = counted.values.map(({ value }) => String(value));
  group.place.replaceChildren(...sizes(counted));
  group.names.replaceChildren(...group.values.map((value) => make("label", {}, make("span", {}, value), make("input"))));
  refresh(group);
};
// Groups as pairs of value and name.
const named = ({ values, names }) => values.map((value, i) => [value, names.children[i].lastChild.value.trim() || value]);
const refresh = (group) => {
  offer(group.reference, named(group));
  cross();
};
// With two columns there is one intersection, whose reference can be named.
const cross = () => {
  const both = [...cards.values()], isPair = both.length === 2 && setup.intersections.value !== "1";
  const pairs = isPair ? named(both[0]).flatMap(([, a]) => named(both[1]).map(([, b]) => `${a} & ${b}`)) : [];
  offer(crossing, pairs.slice(0, MOST_CROSSED).map((name) => [name, name]));
  at("crossing").hidden = !isPair;
  at("crossing").firstElementChild.textContent = `Compare each intersection of ${[...cards.keys()].join(" & ")} with`;
};
setup.intersections.addEventListener("change", cross);

export const asked = () => {
  if (!cards.size) throw new Error("choose at least one column of groups");
  const fields = { bins: {}, group_names: {}, reference: {} };
  for (const [name, group] of cards) {
    fields.bins[name] = group.cuts.value.trim();
    fields.group_names[name] = Object.fromEntries(named(group).filter(([value, text]) => value !== text));
    fields.reference[name] = group.reference.value;
  }
  if (crossing.value) fields.reference[[...cards.keys()].join(" & ")] = crossing.value;
  return fields;
};
