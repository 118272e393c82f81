// The filters: which groups are shown, and in which order. Everything that shows groups listens.

const filter = { words: [], column: -1, least: 0, verdicts: new Set() };
const order = { by: "importance", down: true };
const listeners = [];
let chosen = groups;

const passes = (group) => {
  if (filter.column >= 0 && group.column !== filter.column) return false;
  if (group.n < filter.least) return false;
  const text = plain(`${group.name} ${columnOf(group)}`);
  if (!filter.words.every((word) => text.includes(word))) return false;
  return filter.verdicts.size === 0 || cellsOf(group).some((i) => filter.verdicts.has(of.verdict(i)));
};
const orders = {
  importance: (a, b) => a.id - b.id,
  name: byName,
  cases: (a, b) => b.n - a.n || a.id - b.id,
};
const byMetric = (m, gaps) => (a, b) => {
  const value = gaps ? of.gap : of.score;
  const [x, y] = [a, b].map((group) => {
    const i = cellOf(group, m);
    return of.reason(i) === null ? value(i) : null;
  });
  // What has no value comes last, whichever way the others are sorted.
  if (!known(x) || !known(y)) return { missing: known(x) ? -1 : known(y) ? 1 : 0 };
  return y - x || a.id - b.id;
};
const choose = () => {
  const compare = orders[order.by] ?? byMetric(+order.by, order.gaps);
  const way = order.down ? 1 : -1;
  chosen = groups.filter(passes).sort((a, b) => {
    const found = compare(a, b);
    return typeof found === "object" ? found.missing || a.id - b.id : way * found;
  });
  byId("chosen").textContent = chosen.length === groups.length
    ? `All ${several(groups.length, "group")}`
    : `${count(chosen.length)} of ${several(groups.length, "group")}`;
  for (const listen of listeners) listen();
};

const field = (label, control) =>
  make("div", { class: "field" }, make("label", { for: control.id }, label), control);

const drawFilters = () => {
  const search = make("input", { id: "search", type: "search", autocomplete: "off", spellcheck: "false" });
  const column = make("select", { id: "column" }, make("option", { value: "-1" }, "all columns"),
    data.columns.map((name, i) => make("option", { value: i }, name)));
  const least = make("input", { id: "least", type: "number", min: "0", step: "1", inputmode: "numeric", value: "0" });
  const toggles = occurring.map(({ verdict, v }) => {
    const toggle = make("button", { type: "button", "aria-pressed": "false", "data-verdict": v },
      mark(verdict), verdict.words);
    toggle.addEventListener("click", () => {
      const pressed = !filter.verdicts.has(v);
      filter.verdicts[pressed ? "add" : "delete"](v);
      toggle.setAttribute("aria-pressed", String(pressed));
      choose();
    });
    return toggle;
  });
  const clear = make("button", { type: "button", id: "clear" }, "Clear");
  search.addEventListener("input", () => {
    filter.words = plain(search.value).split(/\s+/).filter(Boolean);
    choose();
  });
  column.addEventListener("change", () => {
    filter.column = +column.value;
    choose();
  });
  least.addEventListener("input", () => {
    filter.least = Number(least.value) || 0;
    choose();
  });
  clear.addEventListener("click", () => {
    Object.assign(filter, { words: [], column: -1, least: 0 });
    filter.verdicts.clear();
    [search.value, column.value, least.value] = ["", "-1", "0"];
    for (const toggle of toggles) toggle.setAttribute("aria-pressed", "false");
    choose();
  });
  byId("filters").append(
    field("Search groups", search),
    severalColumns ? field("Column", column) : "",
    field("Fewest cases", least),
    make("fieldset", {}, make("legend", {}, "With a verdict"), make("div", { class: "toggles" }, toggles)),
    make("p", { class: "status" }, make("span", { id: "chosen", role: "status" }), clear),
  );
};
