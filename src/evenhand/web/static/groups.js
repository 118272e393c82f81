// A card for each column of groups: its values, bins, names, and what they are compared with.
import { ask, at, bad, GivenUp, later, make, offer, several, setup, sizes } from "./parts.js";
import { picks } from "./picks.js";

const MOST_CROSSED = 400;
let file = null, kinds = {};
const cards = new Map();

const add = (name, counted) => {
  const card = at("group-card").content.firstElementChild.cloneNode(true);
  const [cuts, reference, names, places] = [".cuts", ".reference", ".names", ".sizes"].map((part) => card.querySelector(part));
  const group = { card, cuts, reference, names, places, counted: null };
  card.querySelector("legend").textContent = name;
  cuts.parentElement.hidden = !["numbers", "probabilities"].includes(kinds[name]);
  cuts.addEventListener("input", later(() => count(name, group)));
  names.addEventListener("input", () => { fillReference(group); refresh(); });
  cards.set(name, group);
  at("group-cards").append(card);
  if (counted) fill(group, counted);
  else count(name, group);
};
const choose = (names) => {
  for (const [name, { card }] of cards) {
    if (names.includes(name)) continue;
    card.remove();
    cards.delete(name);
  }
  names.filter((name) => !cards.has(name)).forEach((name) => add(name));
  refresh();
};
const pick = picks("groups", choose);

export const offerGroups = (seen) => {
  choose([]);
  [file, kinds] = [seen.file, seen.columns];
  pick(Object.keys(kinds), seen.guesses.groups);
};
// The groups of a table of counts are known.
export const offerCounts = (groups) => {
  kinds = {};
  pick([]);
  for (const [name, counted] of Object.entries(groups)) add(name, counted);
  refresh();
};

const count = async (name, group) => {
  const cuts = group.cuts.value.trim(), slot = `group ${name}`;
  try {
    const asked = cuts ? ask("bins", { file, column: name, cuts }, { slot }) : ask("values", { file, columns: { group: name } }, { slot });
    const answer = await asked, counted = cuts ? answer : answer.group;
    if (counted.error) throw new Error(counted.error);
    fill(group, counted);
  } catch (error) {
    if (error instanceof GivenUp) return;
    group.counted = null;
    group.places.replaceChildren(bad(error.message));
  }
  refresh();
};
const fill = (group, counted) => {
  group.counted = counted;
  group.places.replaceChildren(...sizes(counted));
  group.names.replaceChildren(...counted.values.map(({ value }) => make("label", {}, make("span", {}, String(value)), make("input", { name: "", autocomplete: "off" }))));
  fillReference(group);
};
// Groups as pairs of value and name.
const named = ({ counted, names }) => (counted?.values ?? []).map(({ value }, i) => [String(value), names.children[i].lastChild.value.trim() || String(value)]);
const fillReference = (group) => offer(group.reference, named(group));

// With two columns there is one intersection, whose reference can be named.
export const refresh = () => {
  const crossed = setup.intersections.value, both = [...cards.values()], list = at("crossing").lastElementChild;
  at("crossing").hidden = both.length !== 2 || crossed === "1";
  const pairs = at("crossing").hidden ? [] : named(both[0]).flatMap(([, a]) => named(both[1]).map(([, b]) => `${a} & ${b}`));
  offer(list, pairs.slice(0, MOST_CROSSED).map((name) => [name, name]));
  at("crossing").firstElementChild.textContent = `Compare each intersection of ${[...cards.keys()].join(" & ")} with`;
  // Sums over one column, two columns, ...
  const widths = both.map(({ counted }) => counted ? counted.distinct + (counted.missing > 0) : 0);
  let sums = [1];
  for (const width of widths) sums = [...sums, 0].map((sum, i) => sum + width * (sums[i - 1] ?? 0));
  const total = sums.slice(1, crossed === "all" ? undefined : Number(crossed) + 1).reduce((a, b) => a + b, 0);
  at("group-total").textContent = total ? `At most ${several(total, "group")}.` : "";
};
setup.intersections.addEventListener("change", refresh);

export const asked = () => {
  if (!cards.size) throw new Error("choose at least one column of groups");
  const fields = { bins: {}, group_names: {}, reference: {} };
  for (const [name, group] of cards) {
    const renamed = named(group).filter(([value, text]) => value !== text);
    if (group.cuts.value.trim()) fields.bins[name] = group.cuts.value;
    if (renamed.length) fields.group_names[name] = Object.fromEntries(renamed);
    fields.reference[name] = group.reference.value;
  }
  const crossing = at("crossing").lastElementChild.value;
  if (crossing) fields.reference[[...cards.keys()].join(" & ")] = crossing;
  return fields;
};
