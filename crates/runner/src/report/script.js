"use strict";

// A cell's number in the view that is shown; nothing for an empty cell.
function numberOf(cell) {
  const text = cell.textContent.trim();
  return text === "" ? NaN : Number(text);
}

// Shows one of the values that each cell carries.
function show(table, view) {
  table.dataset.view = view;
  for (const cell of table.querySelectorAll("td[data-value]")) {
    cell.textContent = cell.dataset[view];
  }
}

// Sorts the rows of each body by a column: down, up, then as they were. Means stay below their rows.
function sortBy(table, place) {
  const heads = [...table.tHead.rows[0].cells];
  const next = { none: "descending", descending: "ascending", ascending: "none" };
  const order = next[heads[place].getAttribute("aria-sort") || "none"];
  heads.forEach((head, other) => head.setAttribute("aria-sort", other === place ? order : "none"));
  for (const body of table.tBodies) {
    const rows = [...body.rows];
    rows.forEach((row, index) => { row.dataset.index ??= String(index); });
    const original = (row) => Number(row.dataset.index);
    rows.sort((a, b) => {
      const isMean = a.classList.contains("mean") - b.classList.contains("mean");
      if (isMean !== 0 || order === "none") return isMean || original(a) - original(b);
      const sign = order === "ascending" ? 1 : -1;
      if (place === 0) {
        return sign * a.cells[0].textContent.localeCompare(b.cells[0].textContent, "en", { numeric: true });
      }
      const [x, y] = [numberOf(a.cells[place]), numberOf(b.cells[place])];
      // What is missing goes last, whatever the order.
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || original(a) - original(b);
      return sign * (x - y) || original(a) - original(b);
    });
    body.append(...rows);
  }
}

async function copy(button) {
  const text = button.parentElement.querySelector("pre").textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Without leave to write to the clipboard, selecting the text is the best that can be done.
    getSelection().selectAllChildren(button.parentElement.querySelector("pre"));
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

for (const folder of document.querySelectorAll("section.folder")) {
  const table = folder.querySelector("table.results");
  const buttons = [...folder.querySelectorAll(".views button")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      show(table, button.dataset.view);
      buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
    });
  }
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    head.querySelector("button").addEventListener("click", () => sortBy(table, place));
  });
}
for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", () => copy(button));
}
