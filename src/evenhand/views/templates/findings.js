// Findings by group: the gaps of each group as a small forest, by how large and sure they are, all on one scale.

const batch = 8;
const chance = tiers.length - 1;
const sure = (i) => known(of.tier(i)) && of.tier(i) !== chance;
const found = (group) => cellsOf(group).some(sure) || group.below;

// Half the width of the scale: the smallest of these that leaves out hardly any end of an interval.
const reach = (() => {
  const ends = groups.flatMap((group) => metrics.map((metric, m) => [metric, cellOf(group, m)]))
    .filter(([metric, i]) => !metric.ratio && metric.bounded && sure(i) && known(of.gap_low(i)))
    .map(([, i]) => Math.max(Math.abs(of.gap_low(i)), Math.abs(of.gap_high(i))))
    .sort((a, b) => a - b);
  const most = Math.max(ends[Math.floor(0.95 * (ends.length - 1))] ?? 0.5, 2 * data.margin);
  return [0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1].find((limit) => limit >= most) ?? Math.ceil(most);
})();
const factor = 4;

// Where a gap stands on the scale, from 0 to 100, with ratios on a logarithmic scale.
const placed = (metric, gap) => {
  const share = metric.ratio ? Math.log(Math.max(gap, 1e-9)) / Math.log(factor) : gap / reach;
  return 50 + 48 * Math.min(Math.max(share, -1), 1);
};
const beyond = (metric, gap) => (metric.ratio ? Math.abs(Math.log(Math.max(gap, 1e-9))) > Math.log(factor)
  : Math.abs(gap) > reach);
const percent = (value) => `${value.toFixed(2)}%`;

const forest = (metric, i) => {
  const [low, gap, high] = [of.gap_low(i), of.gap(i), of.gap_high(i)];
  const [from, to] = metric.ratio ? [placed(metric, 0.8), placed(metric, 1.25)]
    : [placed(metric, -data.margin), placed(metric, data.margin)];
  const verdict = verdictOf(i);
  const parts = [
    draw("rect", { class: "band", x: percent(from), width: percent(to - from), y: "0", height: "100%" }),
    draw("line", { class: "zero", x1: "50%", x2: "50%", y1: "0", y2: "100%" }),
  ];
  if (known(low) && known(high)) {
    parts.push(draw("line", { class: `span ${verdict.css}`, x1: percent(placed(metric, low)),
      x2: percent(placed(metric, high)), y1: "50%", y2: "50%" }));
    for (const [end, text] of [[low, "‹"], [high, "›"]]) {
      if (beyond(metric, end)) {
        parts.push(draw("text", { class: "cut", x: percent(placed(metric, end)), y: "50%", dy: "0.33em",
          "text-anchor": "middle" }, text));
      }
    }
  }
  if (known(gap)) {
    const place = { x: percent(placed(metric, gap)), y: "50%", overflow: "visible" };
    parts.push(draw("svg", { class: `mark ${verdict.css}`, ...place },
      draw("use", { href: `#${verdict.css}`, x: "-6", y: "-6", width: "12", height: "12" })));
  }
  return draw("svg", { class: "forest", "aria-hidden": "true" }, parts);
};
const tick = (value) => (value > 0 ? "+" : "") + minus(String(Number(value.toPrecision(3))));
const axis = () => {
  const ticks = [-1, 0, 1].map((share) => draw("text", { x: percent(50 + 48 * share), y: "11",
    "text-anchor": share === -1 ? "start" : share === 1 ? "end" : "middle" }, tick(share * reach)));
  const drawing = draw("svg", { class: "ticks", "aria-hidden": "true" }, ticks);
  return make("div", { class: "gap axis" }, make("span"), drawing);
};

const gapRow = (group, m) => {
  const i = cellOf(group, m), metric = metrics[m];
  const compared = known(of.reference(i)) && known(of.score(i)) ? `${number(of.score(i))} against ${number(of.reference(i))}` : null;
  return make("li", { class: "gap" },
    make("span", { class: "what", title: metric.means }, metric.name,
      make("small", {}, `${metric.key}, ${casesOf(metric, i)}`)),
    forest(metric, i),
    make("span", { class: "how" }, make("b", {}, gapText(m, i) ?? scoreText(i)),
      of.driver(i) !== null ? "*" : null,
      gapSpan(i) ? ` (${gapSpan(i)})` : null,
      compared ? make("small", {}, compared) : null,
      sure(i) || !known(of.q(i)) ? null
        : make("small", {}, `${data.adjusted ? "adjusted p" : "p"} ${pText(of.q(i))}${data.adjusted ? " (the interval is not adjusted)" : ""}: may be chance`)));
};

// Verdicts that depend on one group of the reference, together for each such group.
const drivers = (group, rows) => {
  const by = new Map();
  for (const m of rows) {
    const i = cellOf(group, m), who = of.driver(i);
    if (who !== null) by.set(who, [...(by.get(who) ?? []), `${metrics[m].key} ${drivenOf(i)}`]);
  }
  return [...by].map(([who, verdicts_]) => make("p", { class: "driver" },
    `* If ${who} were left out of the comparison: ${verdicts_.join("; ")}.`));
};

const block = (group, openCard) => {
  const node = make("article", { class: "block", "data-group": group.id, "aria-labelledby": `block-${group.id}` });
  const open = make("button", { type: "button" }, "Card");
  open.setAttribute("aria-label", `Open the card of ${group.name}`);
  open.addEventListener("click", () => openCard(group));
  const heading = make("h3", { id: `block-${group.id}` }, nameOf(group), make("small", {}, whose(group)));
  node.append(make("header", {}, heading, open));
  const rows = metrics.map((_, m) => m);
  const listed = (title, some) => {
    if (some.length === 0) return;
    node.append(make("section", { class: "tier" }, make("h4", {}, title),
      make("ul", {}, some.map((m) => gapRow(group, m)))));
  };
  const tells = (m) => known(of.tier(cellOf(group, m)));
  tiers.forEach((tier, t) => {
    listed(tier.words, rows.filter((m) => of.tier(cellOf(group, m)) === t && tells(m) && !metrics[m].people));
  });
  listed("about the people, whatever is predicted",
    rows.filter((m) => metrics[m].people && tells(m)));
  if (node.querySelector(".gap")) node.append(axis());
  node.append(...drivers(group, rows.filter(tells)));
  if (group.four !== null) node.append(make("p", { class: "four" }, `${group.four}.`));
  const rest = verdicts.map((verdict, v) => [verdict, rows.filter((m) => of.verdict(cellOf(group, m)) === v
    && of.tier(cellOf(group, m)) === null)]).filter(([, some]) => some.length > 0);
  if (rest.length) {
    node.append(make("p", { class: "rest" }, rest.map(([verdict, some]) =>
      make("span", {}, mark(verdict), `${verdict.words}: ${some.map((m) => metrics[m].key).join(", ")}`))));
  }
  return node;
};

const drawFindings = (openCard) => {
  const list = make("div", { class: "blocks" });
  const more = make("button", { type: "button", class: "more" });
  const rest = make("p", { class: "soft" });
  let shown = 0, these = [];
  const add = () => {
    list.append(...these.slice(shown, shown + batch).map((group) => block(group, openCard)));
    shown = Math.min(shown + batch, these.length);
    more.hidden = shown === these.length;
    more.textContent = `Show ${Math.min(batch, these.length - shown)} more of ${count(these.length)}`;
  };
  const restart = () => {
    these = chosen.filter(found).sort((a, b) => a.id - b.id);
    shown = 0;
    list.replaceChildren();
    const without = chosen.length - these.length;
    const where = without === chosen.length ? "any of these" : "the other";
    rest.textContent = without === 0 ? "" : without === 1 && where !== "the other"
      ? "No difference was found in this group." : `No difference was found in ${where} ${several(without, "group")}.`;
    add();
  };
  more.addEventListener("click", () => {
    const next = shown;
    add();
    list.children[next]?.querySelector("button").focus();
  });
  byId("findings-here").append(list, more, rest);
  listeners.push(restart);
};
