// Group columns as chips, and a card for each that is chosen: values, bins, names and reference.
import { ask, at, GivenUp, labels, make, numbers, several } from "./parts.js";
import { chips } from "./chips.js";

let file = null, columns = [], chosen = new Map(), fixed = false;
let changed = () => {};
export const onChange = (call) => { changed = call; };

export const offer = (key, all, guesses) => {
  [file, columns, chosen, fixed] = [key, all, new Map(), false];
  at("choose-groups").hidden = false;
  at("group-cards").replaceChildren();
  guesses.forEach(add);
  show(columns.map(({ name }) => name));
};
// The groups of a table of counts are known.
export const offerCounts = (key, groups) => {
  [file, columns, chosen, fixed] = [key, [], new Map(), true];
  at("choose-groups").hidden = true;
  at("group-cards").replaceChildren();
  for (const [name, counted] of Object.entries(groups)) { add(name); filled(name, counted); }
};

const drop = (name) => {
  chosen.get(name).card.remove();
  chosen.delete(name);
  changed();
};
const show = chips("groups", (name) => chosen.has(name), (name) => chosen.has(name) ? drop(name) : add(name));

let made = 0;
const add = (name) => {
  const id = `group-${++made}`, column = columns.find((c) => c.name === name);
  const values = make("div", { className: "counted" }, make("p", { className: "hint" }, "counting its values …"));
  const reference = make("select", { id: `${id}-reference` });
  const names = make("details", { className: "names", hidden: true }, make("summary", {}, labels.group_names));
  const cuts = make("input", { id: `${id}-cuts`, autocomplete: "off", inputMode: "decimal", placeholder: "such as 25, 45" });
  const binned = make("div", { hidden: true }, make("label", { htmlFor: cuts.id }, labels.bins), cuts);
  const card = make("fieldset", { className: "group" }, make("legend", {}, name), values,
    make("div", { className: "fields" }, make("div", {}, make("label", { htmlFor: reference.id }, labels.reference), reference), binned), names);
  if (!fixed) {
    const remove = make("button", { type: "button", className: "remove" }, "Remove");
    remove.setAttribute("aria-label", `Remove ${name}`);
    remove.addEventListener("click", () => { drop(name); show(); at("groups-search").focus(); });
    card.append(remove);
  }
  const one = { card, values, reference, names, cuts, binned, counted: null, raw: null, bins: null, called: new Map() };
  chosen.set(name, one);
  at("group-cards").append(card);
  references(one);
  reference.addEventListener("change", () => changed());
  cuts.addEventListener("input", () => bin(name));
  binned.hidden = fixed || column?.kind !== "numbers";
  if (!fixed) count(name);
  changed();
};

const failed = (one, error) => {
  if (error instanceof GivenUp) return;
  one.counted = null;
  one.values.replaceChildren(make("p", { className: "bad" }, error.message));
  changed();
};
const count = async (name) => {
  const one = chosen.get(name);
  try {
    const { group } = await ask("values", { file, columns: { group: name } }, `group ${name}`);
    if (group.error) throw new Error(group.error);
    filled(name, group);
  } catch (error) { failed(one, error); }
};
let waiting = null;
const bin = (name) => {
  clearTimeout(waiting);
  const one = chosen.get(name), cuts = numbers(one.cuts.value);
  one.bins = one.cuts.value.trim() ? cuts : null;
  one.cuts.setAttribute("aria-invalid", cuts === null);
  if (cuts === null) return failed(one, new Error("bins are cut at numbers, separated by commas"));
  if (!cuts.length) return one.raw ? filled(name, one.raw) : count(name);
  waiting = setTimeout(async () => {
    try { filled(name, await ask("bins", { file, column: name, cuts }, `group ${name}`), true); } catch (error) { failed(one, error); }
  }, 300);
};

const filled = (name, counted, bins = false) => {
  const one = chosen.get(name);
  if (!one) return;
  one.counted = counted;
  if (!bins) one.raw = counted;
  const most = Math.max(1, ...counted.values.map((v) => v.n));
  const shown = counted.values.slice(0, 12).map(({ value, n }) => {
    const bar = make("meter", { min: 0, max: most, value: n });
    bar.setAttribute("aria-hidden", "true");
    return make("li", {}, make("span", {}, String(value)), bar, make("span", { className: "n" }, n.toLocaleString("en")));
  });
  const notes = [];
  if (counted.distinct > shown.length) notes.push(`and ${several(counted.distinct - shown.length, "more group")}`);
  if (counted.missing) notes.push(`${several(counted.missing, fixed ? "case" : "row")} without a value ${counted.missing === 1 ? "is" : "are"} in no group`);
  if (!bins && !one.binned.hidden && counted.distinct > 20) notes.push("These are numbers with many values: cut them into bins");
  one.values.replaceChildren(make("ul", {}, ...shown), ...notes.map((note) => make("p", { className: "hint" }, note)));
  references(one);
  naming(one, bins);
  changed();
};

const KINDS = [["rest", "everybody outside it"], ["all", "everybody"], ["largest", "the largest group"], ["best", "the group that fares best"]];
// Who fares best is known once it is said which prediction is good for a person.
export const faring = () => {
  const unsaid = !at("favourable").value;
  for (const list of [...[...chosen.values()].map((one) => one.reference), at("crossing-reference")]) {
    const best = [...list.options].find((option) => option.value === "kind:best");
    if (!best) continue;
    best.disabled = unsaid;
    best.textContent = KINDS.at(-1)[1] + (unsaid ? " (say first which prediction is good for a person)" : "");
    if (unsaid && best.selected) list.selectedIndex = 0;
  }
};
const references = (one) => {
  const before = one.reference.value, groups = (one.counted?.values ?? []).map((v) => String(v.value));
  const options = [...KINDS.map(([kind, words]) => new Option(words, `kind:${kind}`)), ...groups.map((g) => new Option(one.called.get(g) || g, `group:${g}`))];
  one.reference.replaceChildren(...options);
  one.reference.value = options.some((o) => o.value === before) ? before : "kind:rest";
  faring();
};
const naming = (one, bins) => {
  one.names.hidden = false;
  const rows = one.counted.values.map(({ value }) => {
    const code = String(value), typed = make("input", { autocomplete: "off", value: bins ? "" : one.called.get(code) ?? "" });
    typed.addEventListener("input", () => {
      if (typed.value.trim()) one.called.set(code, typed.value.trim()); else one.called.delete(code);
      references(one);
      changed();
    });
    return make("label", {}, make("span", {}, code), typed);
  });
  if (bins) one.called.clear();
  one.names.replaceChildren(one.names.firstElementChild, make("div", { className: "renamed" }, ...rows));
};

// How many groups there can be, before they are counted together.
export const total = (crossings) => {
  const sizes = [...chosen].map(([name, one]) => [name, one.counted && one.counted.distinct + (one.counted.missing > 0)]);
  if (!sizes.length) return "";
  if (sizes.some(([, size]) => !size)) return "";
  const most = crossings === "all" ? sizes.length : Math.min(+crossings, sizes.length);
  let all = 0, parts = [];
  const cross = (start, names, product) => {
    for (let i = start; i < sizes.length; i++) {
      const next = [...names, sizes[i][0]], n = product * sizes[i][1];
      all += n;
      if (parts.length < 7) parts.push(`${n.toLocaleString("en")} by ${next.join(" & ")}`);
      if (next.length < most) cross(i + 1, next, n);
    }
  };
  cross(0, [], 1);
  if (parts.length === 1) return `${several(all, "group")}.`;
  return `${sizes.length > 1 && most > 1 ? "At most " : ""}${several(all, "group")}: ${parts.slice(0, 6).join(", ")}${parts.length > 6 ? ", …" : ""}.`;
};

// With two columns there is one crossing, whose reference can be named.
const MOST_CROSSED = 400;
export const cross = (crossings) => {
  const pair = [...chosen], list = at("crossing-reference"), before = list.value;
  at("crossing").hidden = pair.length !== 2 || crossings === "1";
  if (at("crossing").hidden) return list.replaceChildren();
  const [one, other] = pair.map(([, { counted, called }]) => (counted?.values ?? []).map(({ value }) => called.get(String(value)) || String(value)));
  const groups = one.flatMap((first) => other.map((second) => `${first} & ${second}`)).slice(0, MOST_CROSSED);
  const options = [new Option("what follows from the references of both", ""), ...KINDS.map(([kind, words]) => new Option(words, `kind:${kind}`)), ...groups.map((g) => new Option(g, `group:${g}`))];
  list.replaceChildren(...options);
  list.value = options.some((o) => o.value === before) ? before : "";
  at("crossing-label").textContent = `Compare each crossing of ${pair.map(([name]) => name).join(" & ")} with`;
};

const chosenIn = (list) => {
  const [kind, ...value] = list.value.split(":");
  return { [kind]: value.join(":") };
};
export const asked = () => {
  if (!chosen.size) throw new Error("choose at least one column of groups");
  const fields = { groups: [...chosen.keys()], bins: {}, group_names: {} }, columns = {};
  for (const [name, one] of chosen) {
    if (one.cuts.value.trim() && !one.bins) throw new Error(`bins of ${name} are cut at numbers, separated by commas`);
    if (one.bins) fields.bins[name] = one.bins;
    if (one.called.size) fields.group_names[name] = Object.fromEntries(one.called);
    columns[name] = chosenIn(one.reference);
  }
  const crossed = at("crossing-reference").value ? { crossing: { name: [...chosen.keys()].join(" & "), ...chosenIn(at("crossing-reference")) } } : {};
  return { ...fields, reference: { columns, ...crossed } };
};
