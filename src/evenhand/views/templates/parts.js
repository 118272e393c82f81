// What everything that is drawn has in common: the data, words and numbers, and elements made of text alone.

const data = JSON.parse(document.getElementById("data").textContent);
const { metrics, verdicts, tiers } = data;
const byId = (id) => document.getElementById(id);

// A column is a list, one value for all, numbered texts, or nothing.
const reader = (column) => {
  if (column === null || column === undefined) return () => null;
  if (Array.isArray(column)) return (i) => column[i];
  if (!("texts" in column)) return () => column.all;
  const at = reader(column.at);
  return (i) => column.texts[at(i)] ?? null;
};
const readers = (columns) => Object.fromEntries(Object.entries(columns).map(([name, c]) => [name, reader(c)]));
const of = readers(data.rows);
const about = readers(data.groups);
const groups = data.groups.name.map((name, id) => ({
  id, name, n: about.n(id), place: about.place(id), column: about.by(id), own: about.own(id), theirs: about.theirs(id),
  reference: about.reference(id), others: about.reference_n(id), four: about.four(id), below: about.below(id),
}));
const cellOf = (group, metric) => group.id * metrics.length + metric;
const cellsOf = (group) => metrics.map((_, m) => cellOf(group, m));
const verdictOf = (i) => verdicts[of.verdict(i)] ?? { words: "none", css: "", sign: "" };
const known = (value) => value !== null && value !== undefined;

// Words and numbers.

const count = (value) => value.toLocaleString("en-US");
const one = (n, many) => (n === 1 ? many.replace(/s$/, "") : many);
const several = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
const minus = (text) => text.replace("-", "−");
const raised = (value) => String(value).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+c]));
const power = (value) => {
  const [digits, exponent] = value.toExponential(1).split("e");
  return minus(`${digits} × 10`) + raised(+exponent);
};
const number = (value) => {
  if (!known(value) || !Number.isFinite(value)) return "none";
  const size = Math.abs(value);
  // Of rounded counts, numbers have no more decimals than they bear.
  if (data.protected && size < 100) return minus(String(value));
  if (size === 0 || (size >= 0.001 && size < 100)) return minus(value.toFixed(3));
  if (size >= 0.0001 && size < 0.001) return minus(value.toPrecision(2));
  return size >= 100 && size < 1e6 ? minus(count(Number(value.toPrecision(3)))) : power(value);
};
const signed = (value) => (value > 0 ? "+" : "") + number(value);
// A p-value comes with the digits that decide whether it is at most alpha.
const pText = (value) => {
  if (value === 0) return "< 10⁻³⁰⁰";
  return value < 0.001 || Number(value.toFixed(3)) === value ? number(value) : String(value);
};
const between = (low, high) => `${number(low)} to ${number(high)}`;
const gapText = (m, i) => {
  const gap = of.gap(i);
  if (!known(gap)) return null;
  return metrics[m].ratio ? `× ${number(gap)}` : signed(gap);
};
const gapSpan = (i) => (known(of.gap_low(i)) ? between(of.gap_low(i), of.gap_high(i)) : null);
// How many cases a score rests on, one number for each rate that it is made of.
const restsOn = (i) => (of.basis(i) ?? [0]).map(count).join(" and ");
const casesOf = (metric, i) => of.basis(i).map((n, k) => `${count(n)} ${one(n, metric.cases[k] ?? "cases")}`).join(" and ");
const counted = (i) => (known(of.counted(i)) ? `${count(of.counted(i))} of ${restsOn(i)}` : null);
const reasonOf = (i) => {
  const reason = of.reason(i);
  if (reason === null) return null;
  const chance = of.empty(i);
  return `Undefined: ${reason}${known(chance) ? `; the probability of that was ${chance}%` : ""}.`;
};
const drivenOf = (i) => {
  if (of.driver(i) === null) return null;
  const gap = of.without(i);
  return `${verdicts[of.then(i)].words}${known(gap) ? ` (gap ${signed(gap)})` : ""}`;
};
const notesOf = (i) => [
  reasonOf(i),
  of.driver(i) === null ? null : `If ${of.driver(i)} were left out of the comparison, the verdict would be: ${drivenOf(i)}.`,
  of.needed(i),
  of.unknown(i),
].filter((text) => text !== null);
// In the order of their column: numbers by value, bins and categories as they are declared.
const byName = (a, b) => a.column - b.column || a.place - b.place || a.id - b.id;
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const severalColumns = data.columns.length > 1;
const columnOf = (group) => data.columns[group.column];

// A score, or between which numbers it lies if rounded counts do not give it.
const scoreText = (i) => (of.reason(i) !== null ? "undefined"
  : known(of.score(i)) ? number(of.score(i)) : known(of.low(i)) ? between(of.low(i), of.high(i)) : "–");
const scoreTile = (i) => (of.reason(i) !== null || known(of.score(i)) || !known(of.low(i)) ? scoreText(i)
  : `${of.low(i).toFixed(1)}–${of.high(i).toFixed(1)}`);
// Everything that is known about a cell, one line for each thing.
const told = (group, m) => {
  const i = cellOf(group, m), metric = metrics[m], lines = [];
  if (!known(of.verdict(i))) return ["not audited"];
  const score = of.reason(i) === null ? number(of.score(i)) : null;
  if (score !== null) {
    const span = known(of.low(i)) ? `, interval ${between(of.low(i), of.high(i))}` : "";
    lines.push(`${score}${counted(i) ? ` (${counted(i)})` : ""}${span}`);
  }
  if (known(of.reference(i))) lines.push(`Reference ${number(of.reference(i))}`);
  if (gapText(m, i) !== null && !metric.compares) {
    lines.push(`Gap ${gapText(m, i)}${gapSpan(i) ? `, interval ${gapSpan(i)}` : ""}`);
  }
  if (known(of.p(i))) lines.push(`p ${pText(of.p(i))}${data.adjusted ? `, adjusted ${pText(of.q(i))}` : ""}`);
  const tier = of.tier(i);
  lines.push(`Verdict: ${verdictOf(i).words}${known(tier) ? `; ${tiers[tier].words}` : ""}`);
  lines.push(...notesOf(i));
  lines.push(`Rests on ${casesOf(metric, i)}`);
  return lines;
};

// Elements. Text is only ever added as text.

const filled = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
};
const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const mark = (verdict) =>
  draw("svg", { class: `mark ${verdict.css}`, "aria-hidden": "true" }, draw("use", { href: `#${verdict.css}` }));
// A key may be broken after an underscore.
const keyOf = (metric) => metric.key.split(/(?<=_)/).flatMap((part, k) => (k ? [make("wbr"), part] : [part]));
const occurring = verdicts.map((verdict, v) => ({ verdict, v }))
  .filter(({ v }) => groups.some((group) => cellsOf(group).some((i) => of.verdict(i) === v)));
const nameOf = (group) => make("span", { class: "name", dir: "auto" }, group.name);
const whose = (group) => (severalColumns ? `${columnOf(group)}, ` : "") + several(group.n, "case");
