"use strict";
// Open what is closed before printing, and filter the map and the tables by name.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
const query = document.getElementById("q");
if (query) {
  const rows = [...document.querySelectorAll(".map tbody tr, .f tbody tr")];
  query.addEventListener("input", () => {
    const words = query.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(words);
      shown += !row.hidden && row.closest(".map") !== null;
    }
    document.querySelectorAll("details.screen").forEach((part) => { part.open = words !== ""; });
    document.getElementById("shown").textContent = `${shown} ${shown === 1 ? "group" : "groups"}`;
  });
}
