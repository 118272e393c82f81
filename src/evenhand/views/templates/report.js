// Draws the page, opens the card that the address names, and draws what is printed.

byId("drawn").hidden = false;
drawFilters();
const openCard = drawCards();
drawMap(openCard);
drawFindings(openCard);
choose();

const openNamed = () => {
  const group = groups[Number(/^#card-(\d+)$/.exec(location.hash)?.[1] ?? -1)];
  if (group) openCard(group);
};
window.addEventListener("hashchange", openNamed);
openNamed();
// Enter in the search opens the card of the first group that passes, or of one that begins with what was typed.
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("search").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || filter.words.length === 0 || chosen.length === 0) return;
  event.preventDefault();
  openCard(chosen.find((group) => plain(group.name).startsWith(filter.words.join(" "))) ?? chosen[0]);
});
// A link to the card that the address names already changes nothing, and should open it all the same.
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#card-']") : null;
  if (link && link.getAttribute("href") === location.hash) openNamed();
});

// On paper: the findings of all groups that pass the filters, plain tables of at most eight metrics each, and the
// cards that are open.
const perTable = 8;
const paperTable = (some) => make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "group"),
  make("th", { scope: "col" }, "cases"), some.map((m) => make("th", { scope: "col" }, metrics[m].key)))),
make("tbody", {}, chosen.map((group) => make("tr", {},
  make("th", { scope: "row" }, nameOf(group), severalColumns ? make("small", {}, columnOf(group)) : null),
  make("td", {}, count(group.n)), some.map((m) => {
    const i = cellOf(group, m);
    return make("td", {}, mark(verdictOf(i)), scoreText(i),
      make("small", {}, restsOn(i)));
  })))));
const preparePaper = () => {
  const ends = [];
  for (let first = 0; first < metrics.length; first += perTable) {
    ends.push(metrics.map((_, m) => m).slice(first, first + perTable));
  }
  const these = chosen.filter(found).sort((a, b) => a.id - b.id);
  byId("paper").replaceChildren(
    make("h2", {}, "Findings by group"),
    make("div", { class: "blocks" }, these.map((group) => block(group, openCard))),
    these.length ? "" : make("p", {}, "No difference was found."),
    make("h2", {}, "All groups"),
    make("p", {}, "Each score has the mark of its verdict, and below it the number of cases that it rests on. ",
      occurring.map(({ verdict }) => [mark(verdict), ` ${verdict.words}  `])),
    ...ends.map(paperTable),
    ...[...document.querySelectorAll(".card[open]")].flatMap((card) => [
      make("h2", {}, groups[+card.dataset.group].name), card.querySelector(".inside").cloneNode(true),
    ]),
  );
  for (const slider of byId("paper").querySelectorAll(".strength")) slider.remove();
};
window.addEventListener("beforeprint", preparePaper);
window.addEventListener("afterprint", () => byId("paper").replaceChildren());
