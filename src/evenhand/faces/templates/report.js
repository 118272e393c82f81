"use strict";
(() => {
  document.documentElement.classList.remove("nojs");
  const data = JSON.parse(document.getElementById("data").textContent);
  const cellNames = ["TP", "FN", "FP", "TN"];
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
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const score = (metric, cells) => {
    const m = data.metrics[metric];
    const empty = (part) => sum(part.map((i) => cells[i])) === 0;
    return m === null || m.needs.some(empty) ? NaN : evaluate(m.tree, cells);
  };
  const smoothed = (row, strength) => {
    const total = sum(row.prior);
    return score(row.metric, row.cells.map((c, i) => c + strength * row.prior[i] / total));
  };
  // A rate keeps of a gap what its own cases weigh beside those added; other scores have no such rule.
  const kept = (row, strength) => {
    const { whole } = data.metrics[row.metric];
    if (whole === null) return "";
    const own = sum(whole.map((i) => row.cells[i])), added = strength * sum(whole.map((i) => row.prior[i])) / sum(row.prior);
    return own + added === 0 ? "" : `, keeps ${Math.round(100 * own / (own + added))}%`;
  };
  const text = (value) => Number.isFinite(value) ? (Math.abs(value) < 100 ? value.toFixed(3) : value.toPrecision(3)) : "none";
  const byId = (id) => document.getElementById(id);
  const metric = byId("metric"), group = byId("group"), order = byId("order"), strength = byId("strength");

  const show = () => {
    for (const part of document.querySelectorAll("[data-metric]")) {
      part.hidden = metric.value !== "" && part.dataset.metric !== metric.value;
    }
    for (const part of document.querySelectorAll("[data-card]")) {
      part.hidden = group.value !== "" && part.dataset.card !== group.value;
    }
  };
  const arrange = () => {
    for (const forest of document.querySelectorAll("svg.forest")) {
      const rows = [...forest.querySelectorAll("[data-row]")];
      const keys = {
        worst: (r) => +r.dataset.row, name: (r) => data.rows[r.dataset.row].group,
        size: (r) => -data.rows[r.dataset.row].n, score: (r) => data.rows[r.dataset.row].score ?? -Infinity,
      };
      const key = keys[order.value];
      rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
      rows.forEach((r, i) => r.setAttribute("transform", `translate(0,${+forest.dataset.line * i})`));
    }
  };
  const smooth = () => {
    const value = Math.round(+strength.value);
    byId("strength-shown").textContent = value;
    for (const mark of document.querySelectorAll("[data-smooth]")) {
      const row = data.rows[mark.dataset.smooth], found = smoothed(row, value), forest = mark.closest("svg");
      if (!Number.isFinite(found)) continue;
      const low = +forest.dataset.low, high = +forest.dataset.high, left = +forest.dataset.left, width = +forest.dataset.width;
      const share = (Math.min(Math.max(found, low), high) - low) / (high - low);
      mark.setAttribute("transform", `translate(${left + 8 + share * (width - 16)},6)`);
      mark.querySelector("title").textContent = `smoothed ${text(found)} with strength ${value}`;
    }
    for (const cell of document.querySelectorAll("[data-smoothed]")) {
      const row = data.rows[cell.dataset.smoothed], found = smoothed(row, value);
      if (Number.isFinite(found)) cell.textContent = `${text(found)} (λ ${value}${kept(row, value)})`;
    }
  };
  metric.addEventListener("change", show);
  group.addEventListener("change", show);
  order.addEventListener("change", arrange);
  if (strength) strength.addEventListener("input", smooth);
})();
