"use strict";
(() => {
  document.documentElement.classList.remove("nojs");
  const data = JSON.parse(document.getElementById("data").textContent);
  const pairs = {
    mcc: (tp, fn, fp, tn) => (tp * tn - fp * fn) / Math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
    pt: (tp, fn, fp, tn) => { const t = Math.sqrt(tp / (tp + fn)), f = Math.sqrt(fp / (fp + tn)); return f / (t + f); },
    balanced_accuracy: (tp, fn, fp, tn) => (tp / (tp + fn) + tn / (fp + tn)) / 2,
    informedness: (tp, fn, fp, tn) => tp / (tp + fn) + tn / (fp + tn) - 1,
    markedness: (tp, fn, fp, tn) => tp / (tp + fp) + tn / (fn + tn) - 1,
    fowlkes_mallows: (tp, fn, fp) => tp / Math.sqrt((tp + fp) * (tp + fn)),
    kappa: (tp, fn, fp, tn) => 2 * (tp * tn - fn * fp) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)),
    g_mean: (tp, fn, fp, tn) => Math.sqrt(tp / (tp + fn) * tn / (fp + tn)),
    lr_plus: (tp, fn, fp, tn) => tp / (tp + fn) / (fp / (fp + tn)),
    lr_minus: (tp, fn, fp, tn) => fn / (tp + fn) / (tn / (fp + tn)),
    dor: (tp, fn, fp, tn) => tp * tn / (fp * fn),
  };
  pairs.mcc_limit = pairs.mcc; pairs.pt_limit = pairs.pt;
  const beta = (name) => {
    const b = /^f([0-9.]+)$/.exec(name);
    return b && ((tp, fn, fp) => (1 + b[1] ** 2) * tp / ((1 + b[1] ** 2) * tp + b[1] ** 2 * fn + fp));
  };
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const score = (metric, cells) => {
    const m = data.metrics[metric];
    const f = m.name && (pairs[m.name] || beta(m.name));
    return m.over ? dot(m.over, cells) / dot(m.under, cells) : f ? f(...cells) : NaN;
  };
  const smoothed = (row, strength) => {
    const total = dot(row.prior, [1, 1, 1, 1]);
    return score(row.metric, row.cells.map((c, i) => c + strength * row.prior[i] / total));
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
      if (Number.isFinite(found)) cell.textContent = `${text(found)} (λ ${value}, keeps ${Math.round(100 * row.n / (row.n + value))}%)`;
    }
  };
  metric.addEventListener("change", show);
  group.addEventListener("change", show);
  order.addEventListener("change", arrange);
  if (strength) strength.addEventListener("input", smooth);
})();
