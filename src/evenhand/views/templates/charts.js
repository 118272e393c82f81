(() => {
  document.documentElement.classList.remove("nojs");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const figuresOf = (column) => all(`figure[data-column="${column}"]`);

  const choose = (column, group) => {
    for (const figure of figuresOf(column)) {
      figure.querySelector("svg.sweep").classList.toggle("dim", group !== "");
      for (const line of all(".line", figure)) {
        const chosen = line.dataset.group === group;
        line.classList.toggle("chosen", chosen);
        if (chosen) line.parentNode.append(line);
      }
      for (const button of all("button[data-group]", figure)) {
        button.setAttribute("aria-pressed", String(button.dataset.group === group));
      }
      for (const select of all("select", figure)) select.value = group;
    }
  };

  const peek = (button, on) => {
    const line = button.closest("figure").querySelector(`.line[data-group="${button.dataset.group}"]`);
    if (line) line.classList.toggle("peek", on);
  };

  for (const button of all("button[data-group]")) {
    const { column } = button.closest("figure").dataset;
    button.addEventListener("click", () =>
      choose(column, button.getAttribute("aria-pressed") === "true" ? "" : button.dataset.group));
    for (const kind of ["focus", "mouseenter"]) button.addEventListener(kind, () => peek(button, true));
    for (const kind of ["blur", "mouseleave"]) button.addEventListener(kind, () => peek(button, false));
  }
  for (const select of all(".choose select")) {
    select.addEventListener("change", () => choose(select.closest("figure").dataset.column, select.value));
  }
  for (const line of all(".line")) {
    const { column } = line.closest("figure").dataset;
    line.addEventListener("click", () => choose(column, line.classList.contains("chosen") ? "" : line.dataset.group));
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const figure of all("figure[data-column]")) choose(figure.dataset.column, "");
  });
})();
