// The map: groups by metrics. Only the rows near the visible part are in the page. Where the columns do not fit beside
// one another, each group is folded: its name, and below it a tile for each metric.

const tip = byId("tip");
const hideTip = () => {
  tip.hidden = true;
};
const showTip = (node, heading, lines) => {
  tip.replaceChildren(make("b", {}, heading), ...lines.map((line) => make("span", {}, line)));
  tip.hidden = false;
  const place = node.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const page = document.documentElement;
  const left = Math.min(Math.max(8, place.left + place.width / 2 - own.width / 2), page.clientWidth - own.width - 8);
  const above = place.bottom + own.height + 16 > page.clientHeight && place.top > own.height + 8;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${above ? place.top - own.height - 6 : place.bottom + 6}px`;
};

const drawMap = (openCard) => {
  const overscan = 300, guess = 48;
  const columns = metrics.length + 2;
  let gaps = false, folded = false, heights = [], active = { row: 0, column: 0 };
  const drawn = new Map();

  const heads = [{ key: "name", text: "Group" }, { key: "cases", text: "Cases" },
    ...metrics.map((metric, m) => ({ key: String(m), text: keyOf(metric), name: metric.name }))];
  const headings = heads.map((head) => {
    const button = make("button", { type: "button", title: head.name }, head.text);
    button.addEventListener("click", () => sortBy(head.key));
    return make("th", { role: "columnheader", scope: "col", "aria-sort": "none" }, button);
  });
  const spacers = [0, 1].map(() => make("tr", { role: "presentation", "aria-hidden": "true", class: "space" },
    make("td", { role: "presentation", colspan: columns })));
  const body = make("tbody", { role: "rowgroup" }, spacers);
  const table = make("table", { class: "map", role: "grid", "aria-labelledby": "map", "aria-colcount": columns },
    make("thead", { role: "rowgroup" }, make("tr", { role: "row", "aria-rowindex": "1" }, headings)), body);
  table.style.setProperty("--metrics", metrics.length);
  const scroller = make("div", { class: "scroller" }, table);
  const nothing = make("p", { class: "nothing", hidden: true }, "No group passes the filters.");

  const sortBy = (key) => {
    if (order.by !== key) Object.assign(order, { by: key, down: true });
    else if (order.down) order.down = false;
    else Object.assign(order, { by: "importance", down: true });
    order.gaps = gaps;
    choose();
  };
  const showOrder = () => headings.forEach((heading, k) => {
    const sorted = order.by === heads[k].key;
    // Names go up first, numbers down.
    const up = heads[k].key === "name" ? order.down : !order.down;
    heading.setAttribute("aria-sort", sorted ? (up ? "ascending" : "descending") : "none");
  });

  const tile = (group, m) => {
    const i = cellOf(group, m), verdict = verdictOf(i), tier = of.tier(i), score = of.reason(i) === null;
    const value = !known(of.verdict(i)) ? "" : !score ? "undefined"
      : (gaps ? gapText(m, i) : scoreTile(i)) ?? (known(of.score(i)) ? "reference" : "–");
    const dim = filter.verdicts.size > 0 && !filter.verdicts.has(of.verdict(i));
    return make("td", {
      role: "gridcell", tabindex: "-1", "data-metric": m,
      class: `tile ${verdict.css}${known(tier) ? ` tier-${tier}` : ""}${dim ? " dim" : ""}`,
      "aria-label": `${metrics[m].name}: ${value}, ${verdict.words}, rests on ${restsOn(i)} ${restsOn(i) === "1" ? "case" : "cases"}`,
    }, make("span", { class: "key" }, keyOf(metrics[m])), mark(verdict), make("b", {}, value),
    make("small", {}, restsOn(i)));
  };
  const rowOf = (at) => {
    const group = chosen[at];
    return make("tr", { role: "row", "aria-rowindex": at + 2, "data-at": at },
      make("th", { role: "rowheader", scope: "row", tabindex: "-1" }, nameOf(group),
        severalColumns ? make("small", {}, columnOf(group)) : null),
      make("td", { role: "gridcell", tabindex: "-1", class: "cases" }, count(group.n)),
      metrics.map((_, m) => tile(group, m)));
  };

  const visible = () => {
    const top = scroller.scrollTop - overscan, bottom = scroller.scrollTop + scroller.clientHeight + overscan;
    let y = 0, first = 0, above = 0, last = -1;
    for (let at = 0; at < chosen.length; at += 1) {
      if (y + heights[at] < top) {
        first = at + 1;
        above = y + heights[at];
      } else if (y < bottom) {
        last = at;
      }
      y += heights[at];
    }
    return { first: Math.min(first, Math.max(0, last)), last, above, total: y };
  };
  const redraw = () => {
    const { first, last, above } = visible();
    for (const [at, row] of drawn) {
      if (at < first || at > last) {
        if (row.contains(document.activeElement)) scroller.focus({ preventScroll: true });
        row.remove();
        drawn.delete(at);
      }
    }
    let before = spacers[0];
    for (let at = first; at <= last; at += 1) {
      if (!drawn.has(at)) {
        drawn.set(at, rowOf(at));
        before.after(drawn.get(at));
      }
      before = drawn.get(at);
    }
    for (const [at, row] of drawn) heights[at] = row.offsetHeight;
    const below = heights.slice(last + 1).reduce((a, b) => a + b, 0);
    spacers[0].firstChild.style.height = `${first === 0 ? 0 : above}px`;
    spacers[1].firstChild.style.height = `${below}px`;
    spacers[0].hidden = first === 0;
    spacers[1].hidden = below === 0;
    const at = drawn.has(active.row) ? active.row : first;
    for (const [row, node] of drawn) {
      [...node.children].forEach((cell, k) => {
        cell.tabIndex = row === at && k === (row === active.row ? active.column : 0) ? 0 : -1;
      });
    }
  };
  // Rows are as high as their names are long, and how many fit is known once they are drawn.
  const settle = () => {
    for (let before = null, round = 0; round < 5; round += 1) {
      redraw();
      const now = `${[...drawn.keys()].sort((a, b) => a - b)} ${scroller.clientHeight}`;
      if (now === before) break;
      before = now;
    }
    fade();
  };
  // The last row that is seen fades if there are more below it.
  const fade = () => {
    const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    scroller.classList.toggle("more", left > 1);
  };
  const restart = () => {
    for (const row of drawn.values()) row.remove();
    drawn.clear();
    heights = new Array(chosen.length).fill(guess);
    active = { row: 0, column: 0 };
    scroller.scrollTop = 0;
    nothing.hidden = chosen.length > 0;
    table.hidden = chosen.length === 0;
    table.setAttribute("aria-rowcount", chosen.length + 1);
    showOrder();
    settle();
  };
  const fold = () => {
    const now = scroller.clientWidth < 240 + 78 * (metrics.length + 1);
    if (now === folded && heights.length) return settle();
    folded = now;
    table.classList.toggle("folded", folded);
    return restart();
  };

  const go = (row, column) => {
    active = { row: Math.min(Math.max(row, 0), chosen.length - 1), column: Math.min(Math.max(column, 0), columns - 1) };
    if (!drawn.has(active.row)) {
      scroller.scrollTop = heights.slice(0, active.row).reduce((a, b) => a + b, 0);
    }
    settle();
    const cell = drawn.get(active.row).children[active.column];
    cell.focus({ preventScroll: true });
    const head = folded ? 0 : table.tHead.offsetHeight;
    const row_ = drawn.get(active.row), top = row_.offsetTop - head, bottom = row_.offsetTop + row_.offsetHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
    cell.scrollIntoView({ block: "nearest" });
  };
  const moves = {
    ArrowUp: () => go(active.row - 1, active.column), ArrowDown: () => go(active.row + 1, active.column),
    ArrowLeft: () => go(active.row, active.column - 1), ArrowRight: () => go(active.row, active.column + 1),
    PageUp: () => go(active.row - 10, active.column), PageDown: () => go(active.row + 10, active.column),
    Home: (event) => go(event.ctrlKey ? 0 : active.row, 0),
    End: (event) => go(event.ctrlKey ? chosen.length - 1 : active.row, columns - 1),
  };
  const cellAt = (node) => {
    const cell = node instanceof Element ? node.closest("tbody [role=gridcell], tbody [role=rowheader]") : null;
    if (cell === null) return null;
    const row = +cell.parentNode.dataset.at;
    return { cell, row, column: [...cell.parentNode.children].indexOf(cell), group: chosen[row] };
  };
  const explain = (node) => {
    const found = cellAt(node);
    if (found === null || found.column < 2) return hideTip();
    const metric = metrics[found.column - 2];
    return showTip(found.cell, `${found.group.name}, ${metric.name}`, told(found.group, found.column - 2));
  };
  body.addEventListener("keydown", (event) => {
    const found = cellAt(event.target);
    if (found === null) return;
    if (event.key === "Escape") hideTip();
    else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      openCard(found.group);
    } else if (event.key in moves) {
      event.preventDefault();
      moves[event.key](event);
    }
  });
  body.addEventListener("click", (event) => {
    const found = cellAt(event.target);
    if (found) openCard(found.group);
  });
  body.addEventListener("mouseover", (event) => explain(event.target));
  body.addEventListener("mouseleave", hideTip);
  body.addEventListener("focusin", (event) => {
    const found = cellAt(event.target);
    if (found === null) return;
    active = { row: found.row, column: found.column };
    found.cell.setAttribute("aria-describedby", "tip");
    explain(event.target);
  });
  body.addEventListener("focusout", (event) => {
    event.target.removeAttribute("aria-describedby");
    hideTip();
  });
  scroller.tabIndex = -1;
  scroller.addEventListener("scroll", () => {
    hideTip();
    redraw();
    fade();
  }, { passive: true });

  const shown = ["Score", "Gap to the reference"].map((text, k) => {
    const radio = make("input", { type: "radio", name: "shown", id: `shown-${k}`, checked: k === 0 });
    radio.addEventListener("change", () => {
      gaps = k === 1;
      order.gaps = gaps;
      if (order.by in orders) restart();
      else choose();
    });
    return make("label", { for: `shown-${k}` }, radio, text);
  });
  const first = make("button", { type: "button" }, "Most important first");
  first.addEventListener("click", () => {
    Object.assign(order, { by: "importance", down: true });
    choose();
  });
  byId("map-here").append(
    make("div", { class: "switch" }, make("fieldset", {}, make("legend", {}, "Tiles show"), shown), first),
    scroller, nothing,
  );
  listeners.push(restart);
  new ResizeObserver(fold).observe(scroller);
  fold();
};
