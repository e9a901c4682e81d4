"use strict";

// The permission matrix by keyboard: arrow keys go from cell to cell, and after a change the page comes back to
// the cell that was pressed.
(() => {
  const pressed = "studio-matrix-cell";
  // The row of the endpoint and the column, without what the page said of the access.
  const CELLS = ".studio-cell, .studio-cell-rule";
  const place = (cell) => (cell.href ? new URL(cell.href).pathname : cell.value.split("#")[0]);
  const cellsOf = (row) => [...(row ? row.querySelectorAll(CELLS) : [])];

  const beside = (cell, key) => {
    const row = cell.closest("tr");
    const cells = cellsOf(row);
    const at = cells.indexOf(cell);
    const step = document.dir === "rtl" ? -1 : 1;
    if (key === "ArrowRight") return cells[at + step];
    if (key === "ArrowLeft") return cells[at - step];
    if (key === "Home") return cells[0];
    if (key === "End") return cells[cells.length - 1];
    const next = key === "ArrowDown" ? "nextElementSibling" : key === "ArrowUp" ? "previousElementSibling" : null;
    let other = next && row[next];
    // Row rules that nobody here may change have no cells to press.
    while (other && !cellsOf(other).length) other = other[next];
    return other ? cellsOf(other)[at] : undefined;
  };

  document.addEventListener("keydown", (event) => {
    if (!event.target.matches(CELLS) || event.altKey || event.ctrlKey || event.metaKey) return;
    const cell = beside(event.target, event.key);
    if (!cell) return;
    event.preventDefault();
    cell.focus();
  });
  document.addEventListener("click", (event) => {
    const cell = event.target.closest(CELLS);
    if (cell) sessionStorage.setItem(pressed, place(cell));
  });
  document.addEventListener("DOMContentLoaded", () => {
    const last = sessionStorage.getItem(pressed);
    sessionStorage.removeItem(pressed);
    const cell = last && [...document.querySelectorAll(CELLS)].find((one) => place(one) === last);
    if (cell) cell.focus();
  });
})();
