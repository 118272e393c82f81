// Cards: everything about one group, drawn when it is opened. One strength of smoothing holds for all of them.

const cellNames = ["TP", "FN", "FP", "TN"];
const sum = (values) => values.reduce((a, b) => a + b, 0);
const operators = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
  "==": (a, b) => a === b, sqrt: Math.sqrt,
};
const evaluate = (tree, cells) => {
  if (typeof tree === "number") return tree;
  if (typeof tree === "string") return cells[cellNames.indexOf(tree)];
  const [operator, ...parts] = tree;
  if (operator === "if") return evaluate(evaluate(parts[0], cells) ? parts[1] : parts[2], cells);
  return operators[operator](...parts.map((part) => evaluate(part, cells)));
};
const scoreOf = (metric, cells) => {
  const empty = (part) => sum(part.map((k) => cells[k])) === 0;
  return metric.needs.some(empty) ? NaN : evaluate(metric.tree, cells);
};

// A group's score after smoothing, and what a rate keeps of a gap: what its own cases weigh beside those added.
const smoothedText = (group, m, strength) => {
  const i = cellOf(group, m), metric = metrics[m];
  if (!known(of.smoothed(i))) return "";
  const words = (value, lambda, kept) =>
    `${number(value)} (λ ${lambda}${known(kept) ? `, keeps ${kept}%` : ""})`;
  if (strength === null) return words(of.smoothed(i), of.strength(i), of.kept(i));
  const total = sum(group.theirs);
  const found = scoreOf(metric, group.own.map((c, k) => c + strength * group.theirs[k] / total));
  if (!Number.isFinite(found)) return `none (λ ${strength})`;
  if (metric.whole === null) return words(found, strength, null);
  const own = sum(metric.whole.map((k) => group.own[k]));
  const added = strength * sum(metric.whole.map((k) => group.theirs[k])) / total;
  return words(found, strength, own + added === 0 ? null : Math.round(100 * own / (own + added)));
};

// A matrix as a picture: the width of a column is the share of its kind of people, the height of a part its rate.
const mosaic = (cells, title) => {
  const [tp, fn, fp, tn] = cells, n = sum(cells), wide = 200, high = 120;
  const split = n ? wide * (tp + fn) / n : wide / 2;
  const part = (a, b) => (a + b ? high * a / (a + b) : 0);
  const [hit, alarm] = [part(tp, fn), part(fp, tn)];
  const box = (name, x, y, width, height) => {
    if (width <= 0 || height <= 0) return null;
    const place = { x: x.toFixed(1), y: y.toFixed(1), width: width.toFixed(1), height: height.toFixed(1) };
    const kinds = name === "fn" || name === "fp" ? [name, "stripes"] : [name];
    return kinds.map((kind) => draw("rect", { class: kind, ...place }));
  };
  const [left, right] = [tp + fn ? split : 0, fp + tn ? wide - split : 0];
  const picture = draw("svg", { viewBox: `0 0 ${wide} ${high}`, class: "mosaic", role: "img",
    "aria-label": `${title}: ${cells.map((c, k) => `${cellNames[k]} ${count(c)}`).join(", ")}` },
  box("tp", 0, high - hit, left, hit), box("fn", 0, 0, left, high - hit),
  box("fp", split, high - alarm, right, alarm), box("tn", split, 0, right, high - alarm));
  const cell = (k) => make("td", { class: cellNames[k].toLowerCase() }, count(cells[k]));
  return make("figure", {}, make("figcaption", {}, title), picture, make("table", { class: "matrix" },
    make("thead", {}, make("tr", {}, make("td"), make("th", { scope: "col" }, "actual +"),
      make("th", { scope: "col" }, "actual −"))),
    make("tbody", {}, make("tr", {}, make("th", { scope: "row" }, "predicted −"), cell(1), cell(3)),
      make("tr", {}, make("th", { scope: "row" }, "predicted +"), cell(0), cell(2)))));
};

const rankOf = (i) => known(of.percentile(i))
  ? { title: `At least as high as ${of.percentile(i)}% of the scores of groups like the reference` } : {};

const scoreRow = (group, m, strength) => {
  const i = cellOf(group, m), metric = metrics[m], verdict = verdictOf(i);
  const two = (text, small) => (text === null ? [] : [text, small ? make("small", {}, small) : null]);
  const cell = (label, ...children) => make("td", { role: "cell", "data-label": label }, children);
  return make("tr", { role: "row", "data-row": i },
    make("th", { role: "rowheader", scope: "row" }, metric.name, make("small", {}, metric.key)),
    cell("score", ...two(scoreText(i), counted(i)),
      known(of.low(i)) && of.reason(i) === null ? make("small", {}, between(of.low(i), of.high(i))) : null),
    cell("reference", known(of.reference(i)) ? number(of.reference(i)) : "",
      known(of.reference(i)) && group.reference === "all cases" && !of.everybody(i)
        ? make("small", {}, "all others") : null),
    cell("gap", ...two(metric.compares ? null : gapText(m, i), gapSpan(i))),
    cell("p", known(of.p(i)) ? make("span", rankOf(i), pText(of.p(i))) : "",
      data.adjusted && known(of.q(i)) ? make("small", {}, `adjusted ${pText(of.q(i))}`) : null,
      of.about(i) !== null ? make("small", {}, of.about(i)) : null),
    data.groups.own ? make("td", { role: "cell", "data-label": "smoothed",
      "data-smoothed": known(of.smoothed(i)) ? i : null }, smoothedText(group, m, strength)) : null,
    cell("verdict", make("span", { class: "verdict" }, mark(verdict), verdict.words),
      notesOf(i).map((text) => make("small", { class: "note" }, text))));
};

const scoreTable = (group, strength) => {
  const titles = ["metric", "score", "reference", "gap", "p", ...(data.groups.own ? ["smoothed"] : []), "verdict"];
  const people = metrics.map((_, m) => m).sort((a, b) => metrics[a].people - metrics[b].people || a - b);
  return make("table", { class: "scores", role: "table" }, make("caption", {}, `Scores, with ${data.level} intervals`),
    make("thead", { role: "rowgroup" }, make("tr", { role: "row" },
      titles.map((title) => make("th", { role: "columnheader", scope: "col" }, title)))),
    make("tbody", { role: "rowgroup" }, people.map((m) => scoreRow(group, m, strength))));
};

const drawCards = () => {
  const step = 30;
  const list = make("div", { class: "cards" });
  const more = make("button", { type: "button", class: "more" });
  const open = new Set(), pinned = [];
  let limit = step, strength = null;

  const smooth = (value) => {
    strength = value;
    for (const slider of list.querySelectorAll("input[type=range]")) slider.value = value;
    for (const shown of list.querySelectorAll(".lambda")) shown.textContent = value;
    for (const cell of list.querySelectorAll("[data-smoothed]")) {
      const i = +cell.dataset.smoothed, m = i % metrics.length;
      cell.textContent = smoothedText(groups[(i - m) / metrics.length], m, value);
    }
  };
  const slider = (group) => {
    const start = data.strength ?? 10;
    const range = make("input", { type: "range", id: `strength-${group.id}`, min: "0", max: Math.max(100, start),
      step: "any", value: strength ?? start });
    range.addEventListener("input", () => smooth(Math.round(+range.value)));
    return make("p", { class: "strength" }, make("label", { for: range.id }, "Strength λ of smoothing, in cases: ",
      make("span", { class: "lambda" }, String(strength ?? data.strength ?? "chosen per group"))), range);
  };
  const fill = (group) => {
    const isReference = cellsOf(group).some((i) => verdictOf(i).words === "reference");
    const with_ = group.reference === "all cases" ? "all others" : group.reference;
    const words = isReference ? "The reference of the others." : `Compared with ${group.reference}${
      group.reference === "all cases" ? "" : ` (${several(group.others, "case")})`}.`;
    return [
      make("p", {}, words, " ", make("a", { href: `#card-${group.id}` }, "Link to this card")),
      group.four !== null ? make("p", {}, `${group.four}.`) : null,
      group.own ? make("div", { class: "pictures" }, mosaic(group.own, group.name),
        isReference ? null : mosaic(group.theirs, with_),
        make("p", { class: "soft" }, "Widths are shares of actual positives and negatives, heights are rates of "
          + "predictions among them; striped parts are errors.")) : null,
      data.groups.own ? slider(group) : null,
      scoreTable(group, strength),
    ].filter((part) => part !== null);
  };
  const card = (group) => {
    const seen = verdicts.map((verdict, v) => [verdict, cellsOf(group).filter((i) => of.verdict(i) === v).length])
      .filter(([, n]) => n > 0);
    const body = make("div", { class: "inside" });
    const node = make("details", { class: "card", id: `card-${group.id}`, "data-group": group.id },
      make("summary", {}, nameOf(group), make("small", {}, whose(group)),
        make("span", { class: "seen" }, seen.map(([verdict, n]) =>
          make("span", { title: verdict.words }, mark(verdict), make("span", { class: "only-read" }, verdict.words),
            n)))),
      body);
    const toggle = () => {
      open[node.open ? "add" : "delete"](group.id);
      if (node.open && body.childElementCount === 0) body.append(...fill(group));
    };
    node.addEventListener("toggle", toggle);
    if (open.has(group.id)) {
      node.open = true;
      toggle();
    }
    return node;
  };
  const restart = () => {
    const passing = new Set(chosen);
    const first = pinned.filter((group) => passing.has(group));
    const rest = chosen.filter((group) => !first.includes(group));
    const these = [...first, ...rest].slice(0, Math.max(limit, first.length));
    list.replaceChildren(...these.map(card));
    more.hidden = these.length >= chosen.length;
    more.textContent = `Show ${Math.min(step, chosen.length - these.length)} more of ${count(chosen.length)}`;
  };
  more.addEventListener("click", () => {
    const next = list.children.length;
    limit += step;
    restart();
    list.children[next]?.querySelector("summary").focus();
  });
  const openCard = (group) => {
    if (!byId(`card-${group.id}`)) {
      // A card that is asked for is shown, whatever the filters say.
      pinned.unshift(group);
      list.prepend(card(group));
    }
    const node = byId(`card-${group.id}`);
    node.open = true;
    // The browser would announce it later, and what is inside is drawn then.
    node.dispatchEvent(new Event("toggle"));
    node.scrollIntoView({ block: "start" });
    node.querySelector("summary").focus({ preventScroll: true });
  };
  byId("cards-here").append(list, more);
  listeners.push(() => {
    limit = step;
    restart();
  });
  return openCard;
};
