"use strict";

// The grid of inputs by keyboard, as a spreadsheet: Enter and the arrows move between cells, Enter in the last row adds
// one, and rows that were copied from a spreadsheet are pasted as rows.
(() => {
  const COLUMNS = ["name", "type", "required", "bound"];
  const REST = ["description", "default_text", "min_length", "max_length", "minimum", "maximum", "pattern"];
  const YES = /^(true|yes|y|x|1|✓|✔)$/i;

  const field = (row, name) => studio.rows.field(row, name);
  const control = (cell) =>
    cell && [...cell.querySelectorAll("input, select, textarea")].find((one) => one.type !== "hidden" && one.checkVisibility());
  const lineOf = (node) => node.closest("[data-row].studio-input-row, [data-row].studio-property-row");
  const cellIn = (row, column) => control(row.querySelector(`:scope > .studio-grid-line [data-cell="${column}"]`));
  const linesOf = (grid, kind) =>
    [...grid.querySelectorAll(`:scope > [data-rows] > [data-list] > ${kind}`)].filter((row) => row.checkVisibility() && !row.classList.contains("studio-row-removed"));

  const go = (target) => {
    if (!target) return false;
    target.focus();
    if (target.matches("input:not([type=checkbox])")) target.select();
    return true;
  };

  // The cell above or below; a row without that column has the one before it.
  const vertical = (cell, by) => {
    const row = lineOf(cell);
    const lines = linesOf(row.closest("[data-grid]"), ".studio-row");
    const next = lines[lines.indexOf(row) + by];
    const columns = COLUMNS.slice(0, COLUMNS.indexOf(cell.dataset.cell) + 1).reverse();
    return next ? columns.map((column) => cellIn(next, column)).find(Boolean) : null;
  };
  const horizontal = (cell, by) => {
    const row = lineOf(cell);
    const cells = COLUMNS.map((column) => cellIn(row, column)).filter(Boolean);
    const at = cells.indexOf(control(cell)) + by;
    return cells[at] ?? null;
  };
  // Behind the last row of its kind, unless that is still empty.
  const append = (row) => {
    const kind = row.matches(".studio-input-row") ? ".studio-input-row" : ".studio-property-row";
    const isLast = linesOf(row.closest("[data-grid]"), kind).at(-1) === row;
    const rows = row.closest("[data-rows]");
    const isEmpty = !field(row, kind === ".studio-input-row" ? "name" : "attribute").value;
    if (!isLast || isEmpty || !rows.querySelector(":scope > [data-template]")) return false;
    return go(cellIn(studio.rows.add(rows.dataset.rows), "name"));
  };

  const isAtEnd = (target, by) => {
    if (target.matches("select, [role=combobox]")) return false;
    if (target.type === "checkbox") return true;
    const { selectionStart: start, selectionEnd: end, value } = target;
    return start === null ? false : (start === 0 && end === value.length) || (start === end && start === (by < 0 ? 0 : value.length));
  };
  const moved = (event, cell) => {
    const { key, target } = event;
    const forced = event.ctrlKey || event.metaKey;
    if (key === "ArrowUp" || key === "ArrowDown") {
      const by = key === "ArrowUp" ? -1 : 1;
      if (!forced && target.matches("select, textarea, [role=combobox]")) return false;
      return go(vertical(cell, by)) || (by > 0 && forced && append(lineOf(cell)));
    }
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const by = (key === "ArrowLeft") === (getComputedStyle(cell).direction === "rtl") ? 1 : -1;
      return (forced || isAtEnd(target, by)) && go(horizontal(cell, by));
    }
    if (key === "Enter" && !event.shiftKey) return append(lineOf(cell)) || go(vertical(cell, 1)) || true;
    return key === "Enter" && (go(vertical(cell, -1)) || true);
  };

  document.addEventListener("keydown", (event) => {
    const cell = event.target.closest?.("[data-grid] [data-cell]");
    if (!cell?.dataset.cell || event.defaultPrevented || event.isComposing) return;
    if (event.altKey && event.key === "Enter" && event.target.matches("textarea")) {
      // As in a spreadsheet: Enter alone goes to the next cell.
      event.preventDefault();
      document.execCommand("insertText", false, "\n");
    } else if (event.altKey) {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!by || !event.shiftKey || !lineOf(cell).matches(".studio-input-row")) return;
      event.preventDefault();
      studio.rows.move(lineOf(cell), by);
      event.target.focus();
    } else if (moved(event, cell)) event.preventDefault();
  });

  // Titles of columns, as the page shows them: a first row of a spreadsheet may name what stands below.
  const titles = (row) => {
    studio.rows.complete(row);
    const labelled = [...row.querySelectorAll("label")].map((label) => [label.textContent.replace("*", "").trim().toLowerCase(), label.htmlFor]);
    const known = new Map([...COLUMNS, ...REST].map((name) => [name, name]));
    for (const [title, id] of labelled) {
      const name = id.replace(/_search$/, "").split("-").pop();
      if (known.has(name)) known.set(title, name);
    }
    const head = row.closest("[data-grid]").querySelectorAll(".studio-grid-head > span");
    COLUMNS.forEach((name, at) => known.set(head[at + 1].textContent.trim().toLowerCase(), name));
    known.delete("");
    return known;
  };
  const fill = (row, name, text, before) => {
    if (name === "bound") {
      const known = Object.entries(studio.data()[row.querySelector("[data-picker]")?.dataset.picker] ?? {});
      const wanted = text.toLowerCase();
      const found = known.find(([key, { label }]) => [key, label, `${label} (${key})`].some((one) => one.toLowerCase() === wanted));
      const bound = row.querySelector("[data-bound]");
      if (text && bound) fill(bound, "attribute", found?.[0] ?? text, before);
      else if (text) {
        const made = studio.bind(row, found?.[0] ?? text);
        before.push(() => studio.set(field(made, "attribute"), ""));
      }
      return;
    }
    const target = field(row, name);
    if (!target) return;
    const present = target.type === "checkbox" ? target.checked : target.value;
    before.push(() => studio.set(target, present));
    if (target.type === "checkbox") studio.set(target, YES.test(text) || text.toLowerCase() === studio.data().texts.yes.toLowerCase());
    else {
      const same = [...(target.options ?? [])].find((one) => [one.value, one.text].some((known) => known.toLowerCase() === text.toLowerCase()));
      studio.set(target, same ? same.value : text);
    }
  };
  const say = (grid, count, undo) => {
    const status = grid.querySelector(":scope > .studio-row-actions > [data-grid-status]");
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "studio-button studio-button-small", textContent: studio.data().texts.undo });
    button.addEventListener("click", () => {
      undo();
      status.replaceChildren();
    });
    status.replaceChildren(studio.data().texts.pasted.replace("%(count)s", count), " ", button);
  };

  // Spreadsheets put a cell of several lines into quotes, and double the quotes in it.
  const CELL = /(?:"((?:[^"]|"")*[\t\n](?:[^"]|"")*)"(?=[\t\n]|$)|([^\t\n]*))([\t\n]|$)/g;
  const tableOf = (text) => {
    const table = [[]];
    for (const [, quoted, plain, end] of text.matchAll(CELL)) {
      table.at(-1).push((quoted?.replaceAll('""', '"') ?? plain).trim());
      if (!end) break;
      if (end === "\n") table.push([]);
    }
    return table;
  };

  document.addEventListener("paste", (event) => {
    const cell = event.target.closest?.("[data-grid] .studio-input-row [data-cell]");
    const text = event.clipboardData?.getData("text/plain").replace(/\r\n?/g, "\n").replace(/\n$/, "") ?? "";
    if (!cell?.dataset.cell || !/[\t\n]/.test(text) || event.target.matches("textarea")) return;
    event.preventDefault();
    // The look has handlers of its own for what is pasted.
    event.stopPropagation();
    const grid = cell.closest("[data-grid]");
    let row = lineOf(cell);
    const table = tableOf(text);
    const known = titles(row);
    const isHead = table[0].length > 1 && table[0].every((title) => known.has(title.toLowerCase()));
    const columns = isHead ? table.shift().map((title) => known.get(title.toLowerCase())) : [...COLUMNS, ...REST].slice(COLUMNS.indexOf(cell.dataset.cell));
    const before = [];
    const lines = linesOf(grid, ".studio-input-row");
    let at = lines.indexOf(row);
    for (const line of table) {
      row = lines[at] ?? studio.rows.add(row.closest("[data-rows]").dataset.rows);
      const made = row;
      if (!lines[at]) before.push(() => studio.rows.remove(made, true));
      line.forEach((one, index) => columns[index] && fill(row, columns[index], one, before));
      at += 1;
    }
    go(cellIn(row, "name"));
    say(grid, table.length, () => before.reverse().forEach((step) => step()));
  }, true);
})();
