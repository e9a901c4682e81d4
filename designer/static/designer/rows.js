"use strict";

// Rows of a form: added, removed and kept after all, moved by dragging or with their arrow buttons.
window.studio = window.studio || {};

(() => {
  const all = (node, selector) => [...node.querySelectorAll(selector)];

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

  const own = (row, selector) => all(row, selector).find((node) => node.closest("[data-row]") === row);
  const container = (prefix) => document.querySelector(`[data-rows="${prefix}"]`);
  const isRemoved = (row) => Boolean(fieldOf(row, "DELETE")?.checked);
  // A row may hold rows of its own: those of a list are its children.
  const part = (rows, name) => rows.querySelector(`:scope > [data-${name}]`);
  const listed = (rows) => [...part(rows, "list").children].filter((node) => node.matches("[data-row]"));
  // Wherever they stand: an entity property that an input fills stands in the input's row.
  const rowsOf = (prefix) =>
    all(document, `[data-row^="${prefix}-"]`).filter((row) => /^\d+$/.test(row.dataset.row.slice(prefix.length + 1)) && !isRemoved(row));

  const isNew = (row) => row.classList.contains("studio-row-new");
  // New rows stand last until they are moved; the server puts them there.
  const isInOrder = (rows) => {
    const saved = rows.filter((row) => !isNew(row));
    const positions = saved.map((row) => Number(fieldOf(row, "position")?.value || 0));
    return saved.every((row, at) => rows[at] === row && (!at || positions[at - 1] < positions[at]));
  };
  const number = (rows) => {
    const there = listed(rows);
    const fields = there.map((row) => fieldOf(row, "position")).filter(Boolean);
    if (!isInOrder(there)) fields.forEach((position, at) => { position.value = at + (isNew(there[0]) ? 1 : 0); });
    const empty = part(rows, "empty");
    if (empty) empty.hidden = rowsOf(rows.dataset.rows).length > 0;
  };

  // What a row unfolds comes as hidden fields; a disabled one is a box that is not ticked. Before anything of it is shown
  // or asked for, the fields of a new row take their place, with their values.
  const complete = (row) => {
    const folded = row.querySelector(":scope > [data-more] > [data-folded]");
    if (!folded) return;
    const rows = row.closest("[data-rows]");
    const blank = part(rows, "template").content.querySelector("[data-more]").innerHTML;
    const hidden = new Map(all(folded, "input").map((field) => [field.name, field]));
    const more = folded.parentElement;
    more.innerHTML = blank.replaceAll(`${rows.dataset.rows}-__prefix__`, row.dataset.row);
    all(more, "[name]").forEach((field) => {
      if (field.type === "checkbox") field.checked = !hidden.get(field.name).disabled;
      else field.value = hidden.get(field.name).value;
    });
    row.dispatchEvent(new CustomEvent("row:completed", { bubbles: true }));
  };
  const fieldOf = (row, name) => {
    const selector = `[name="${row.dataset.row}-${name}"]`;
    const field = row.querySelector(selector);
    if (!field?.closest("[data-folded]")) return field;
    complete(row);
    return row.querySelector(selector);
  };
  // The field of that name, wherever it stands.
  const named = (name) => {
    const row = document.querySelector(`[data-row="${CSS.escape(name.replace(/-[^-]*$/, ""))}"]`);
    return row ? fieldOf(row, name.slice(row.dataset.row.length + 1)) : document.getElementsByName(name)[0];
  };

  // A row that is made from one of the templates of `prefix`, for `place`.
  const made = (prefix, template, place) => {
    const rows = container(prefix);
    const total = rows.querySelector(`[name="${prefix}-TOTAL_FORMS"]`);
    const holder = document.createElement("template");
    holder.innerHTML = part(rows, template).innerHTML.replaceAll(`${prefix}-__prefix__`, `${prefix}-${total.value}`);
    total.value = Number(total.value) + 1;
    const row = holder.content.firstElementChild;
    place.append(row);
    row.classList.add("studio-row-new");
    return row;
  };

  const add = (prefix, values = {}) => {
    const rows = container(prefix);
    const row = made(prefix, "template", part(rows, "list"));
    number(rows);
    row.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
    for (const [name, value] of Object.entries(values)) {
      const field = fieldOf(row, name);
      if (field) set(field, value);
    }
    return row;
  };

  const show = (row) => {
    const removed = isRemoved(row);
    row.classList.toggle("studio-row-removed", removed);
    row.hidden = removed && isNew(row);
    own(row, "[data-remove]").hidden = removed;
    own(row, "[data-restore]").hidden = !removed;
  };
  // The entity properties that stand in an input's row go with it, and stay with it.
  const remove = (row, removed) => {
    all(row, "[data-bound]").filter((bound) => bound.closest("[data-bounds]").closest("[data-row]") === row)
      .forEach((bound) => studio.set(fieldOf(bound, "DELETE"), removed));
    fieldOf(row, "DELETE").checked = removed;
    show(row);
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
    own(row, `[data-move="${by}"]`)?.focus();
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

  const begin = (row) => row.querySelector("input:not([type=hidden]):not([hidden]), select:not([hidden]), textarea:not([hidden])")?.focus();
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const row = button.closest("[data-row]");
    if (button.matches("[data-add]")) {
      begin(add(button.dataset.add));
    } else if (button.matches("[data-remove]")) remove(row, true);
    else if (button.matches("[data-restore]")) remove(row, false);
    else if (button.matches("[data-move]")) move(row, Number(button.dataset.move));
  });

  // Django adds the rows of its own inlines, such as the entries of a row rule.
  document.addEventListener("formset:added", (event) => {
    event.target.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
    begin(event.target);
  });
  document.addEventListener("DOMContentLoaded", () => {
    all(document, "[data-rows]").forEach(number);
    all(document, "[data-row]").filter((row) => own(row, "[data-remove]") && isRemoved(row)).forEach(show);
  });

  Object.assign(studio, {
    rows: { add, all: rowsOf, complete, field: fieldOf, made, move, named, number, remove },
    set,
    data: () => (studio.known ??= JSON.parse(document.getElementById("page-data")?.textContent || "{}")),
  });
})();
