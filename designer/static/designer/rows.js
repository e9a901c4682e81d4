"use strict";

// Rows of a form: added, removed and kept after all, moved by dragging or with their arrow buttons.
window.studio = window.studio || {};

(() => {
  const all = (node, selector) => [...node.querySelectorAll(selector)];
  const fieldOf = (row, name) => row.querySelector(`[name="${row.dataset.row}-${name}"]`);

  const tell = (node) => {
    node.dispatchEvent(new Event("input", { bubbles: true }));
    node.dispatchEvent(new Event("change", { bubbles: true }));
  };

  const set = (field, value) => {
    if (field.type === "checkbox") field.checked = value === true;
    else {
      if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === String(value))) {
        field.add(new Option(value, value));
      }
      field.value = value;
    }
    tell(field);
  };

  const own = (row, selector) => row.querySelector(`:scope > .studio-row-tools ${selector}`);
  const container = (prefix) => document.querySelector(`[data-rows="${prefix}"]`);
  const isRemoved = (row) => Boolean(fieldOf(row, "DELETE")?.checked);
  // A row may hold rows of its own: those of a list are its children.
  const part = (rows, name) => rows.querySelector(`:scope > [data-${name}]`);
  const listed = (rows) => [...part(rows, "list").children].filter((node) => node.matches("[data-row]"));
  const rowsOf = (prefix) => {
    const rows = container(prefix);
    return rows ? listed(rows).filter((row) => !isRemoved(row)) : [];
  };

  const number = (rows) => {
    listed(rows).forEach((row, at) => {
      const position = fieldOf(row, "position");
      if (position) position.value = at;
    });
    part(rows, "empty").hidden = rowsOf(rows.dataset.rows).length > 0;
  };

  const add = (prefix, values = {}) => {
    const rows = container(prefix);
    const total = rows.querySelector(`[name="${prefix}-TOTAL_FORMS"]`);
    const made = document.createElement("template");
    made.innerHTML = part(rows, "template").innerHTML.replaceAll(`${prefix}-__prefix__`, `${prefix}-${total.value}`);
    total.value = Number(total.value) + 1;
    const row = made.content.firstElementChild;
    part(rows, "list").append(row);
    row.classList.add("studio-row-new");
    number(rows);
    row.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
    for (const [name, value] of Object.entries(values)) {
      const field = fieldOf(row, name);
      if (field) set(field, value);
    }
    return row;
  };

  const remove = (row, removed) => {
    fieldOf(row, "DELETE").checked = removed;
    row.classList.toggle("studio-row-removed", removed);
    if (removed && row.classList.contains("studio-row-new")) row.hidden = true;
    own(row, "[data-remove]").hidden = removed;
    own(row, "[data-restore]").hidden = !removed;
    own(row, removed ? "[data-restore]" : "[data-remove]").focus();
    number(row.closest("[data-rows]"));
    tell(fieldOf(row, "DELETE"));
  };

  const move = (row, by) => {
    const other = by < 0 ? row.previousElementSibling : row.nextElementSibling;
    if (!other) return;
    if (by < 0) other.before(row);
    else other.after(row);
    number(row.closest("[data-rows]"));
    own(row, `[data-move="${by}"]`).focus();
    tell(fieldOf(row, "position"));
  };

  let dragged = null;
  const drop = (event) => {
    let over = event.target.closest("[data-row]");
    while (dragged && over && over.parentElement !== dragged.parentElement) over = over.parentElement.closest("[data-row]");
    if (!dragged || !over || over === dragged) return;
    event.preventDefault();
    const { top, height } = over.getBoundingClientRect();
    if (event.clientY < top + height / 2) over.before(dragged);
    else over.after(dragged);
  };

  document.addEventListener("mousedown", (event) => {
    const row = event.target.closest("[data-drag]")?.closest("[data-row]");
    if (row) row.draggable = true;
  });
  document.addEventListener("dragstart", (event) => {
    if (event.target.matches?.("[data-row]")) dragged = event.target;
  });
  document.addEventListener("dragover", drop);
  document.addEventListener("dragend", () => {
    if (!dragged) return;
    dragged.draggable = false;
    number(dragged.closest("[data-rows]"));
    tell(fieldOf(dragged, "position"));
    dragged = null;
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const row = button.closest("[data-row]");
    if (button.matches("[data-add]")) {
      const added = add(button.closest("[data-rows]").dataset.rows);
      added.querySelector("input:not([type=hidden]):not([hidden]), select, textarea")?.focus();
    } else if (button.matches("[data-remove]")) remove(row, true);
    else if (button.matches("[data-restore]")) remove(row, false);
    else if (button.matches("[data-move]")) move(row, Number(button.dataset.move));
  });

  document.addEventListener("DOMContentLoaded", () => all(document, "[data-rows]").forEach(number));

  Object.assign(studio, {
    rows: { add, all: rowsOf, field: fieldOf, number },
    set,
    data: () => (studio.known ??= JSON.parse(document.getElementById("page-data")?.textContent || "{}")),
  });
})();
