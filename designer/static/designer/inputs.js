"use strict";

// The grid of inputs and entity properties: what a row unfolds, the settings that its type has, the attributes that it
// is bound to, and how many findings it has.
(() => {
  const field = (row, name) => studio.rows.field(row, name);
  const texts = () => studio.data().texts;
  const inputRow = (node) => node.closest?.(".studio-input-row");

  studio.unfold = (row, open = !row.classList.contains("is-open")) => {
    if (open) studio.rows.complete(row);
    row.classList.toggle("is-open", open);
    row.querySelector("[data-unfold]").setAttribute("aria-expanded", String(open));
  };

  // Settings that a type does not have are hidden, unless they hold something that is to be cleared.
  const narrow = (row) => {
    const known = studio.data().settings?.[field(row, "type")?.value];
    for (const setting of known ? studio.data().settings_of_types : []) {
      const box = document.getElementById(`field-${row.dataset.row}-${setting}`);
      if (box) box.hidden = !known.includes(setting) && !field(row, setting).value;
    }
  };

  // The attributes that an input fills. A picker without a name stands where there is none yet.
  const bounds = (row) => row.querySelector(":scope > .studio-grid-line > [data-bounds]");
  const properties = (row) => row.closest("[data-grid]").querySelector(":scope > .studio-rows-bindings");
  const blank = (row) => {
    const template = properties(row)?.querySelector(":scope > [data-bound-template]");
    const place = bounds(row);
    const unnamed = [...place.children].find((one) => !one.matches("[data-bound]"));
    // A list is not bound: its items' inputs are.
    if (studio.data().lists?.includes(field(row, "type").value)) return unnamed?.remove();
    const isThere = unnamed || [...place.children].some((one) => !field(one, "DELETE")?.checked);
    if (!template || isThere || template.content.querySelector("select") === null) return;
    const cell = template.content.querySelector("[data-cell=bound]").cloneNode(true);
    const select = cell.querySelector("select");
    cell.removeAttribute("id");
    select.removeAttribute("aria-describedby");
    Object.assign(select, { id: `${row.dataset.row}-bound`, name: "", required: false });
    cell.querySelector("label").htmlFor = select.id;
    select.add(new Option("", ""), 0);
    select.value = "";
    select.addEventListener("change", (event) => {
      event.stopPropagation();
      if (select.value) studio.bind(row, select.value);
    });
    place.append(cell);
    return studio.pick(cell);
  };
  const clearable = (bound) => {
    const select = field(bound, "attribute");
    if (select.tagName !== "SELECT") return;
    select.required = false;
    select.addEventListener("change", () => {
      const isEmpty = !select.value;
      const removed = field(bound, "DELETE");
      if (!removed || removed.checked === isEmpty) return;
      bound.hidden = isEmpty;
      studio.set(removed, isEmpty);
      if (isEmpty) {
        const row = inputRow(bound);
        blank(row);
        bounds(row).lastElementChild.querySelector("input")?.focus();
      }
    });
  };
  studio.bind = (row, attribute) => {
    const { rows: prefix } = properties(row).dataset;
    const unnamed = [...bounds(row).children].find((one) => !one.matches("[data-bound]"));
    const hadFocus = unnamed?.contains(document.activeElement);
    unnamed?.remove();
    const bound = studio.rows.made(prefix, "bound-template", bounds(row));
    clearable(bound);
    bound.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
    studio.set(field(bound, "source"), "input");
    studio.set(field(bound, "value_text"), field(row, "name").value);
    studio.set(field(bound, "attribute"), attribute);
    const findings = document.createElement("div");
    findings.append(...["attribute", "source", "value_text"].map((name) => {
      const place = document.createElement("div");
      place.dataset.findings = `${bound.dataset.row}-${name}`;
      place.id = `id_${place.dataset.findings}_error`;
      return place;
    }));
    row.querySelector(":scope > [data-line-findings]").append(findings);
    if (hadFocus) bound.querySelector("[data-cell=bound] input")?.focus();
    return bound;
  };

  // What is said of a row stands below it: its sign says how much, and the fields are marked.
  const count = (row) => {
    const own = [...row.querySelectorAll(".finding, .studio-errors > li")].filter((node) => node.closest("[data-row]") === row);
    const blocking = own.filter((node) => !node.matches(".finding-warning")).length;
    const sums = [["count-blocking", "✖", blocking, texts().blocking], ["count-warning", "⚠", own.length - blocking, texts().notes]];
    row.querySelector("[data-row-counts]").replaceChildren(...sums.filter(([, , sum]) => sum).map(([name, sign, sum, title]) => {
      const span = document.createElement("span");
      Object.assign(span, { className: name, textContent: `${sign}${sum} `, title });
      return span;
    }));
    row.querySelectorAll(":scope > [data-line-findings] [data-findings]").forEach((place) => {
      const wrong = place.querySelector(".finding-blocking, .studio-errors") ?? place.parentElement.querySelector(`[data-errors-of="${place.dataset.findings}"]`);
      document.getElementById(`field-${place.dataset.findings}`)?.classList.toggle("studio-grid-cell-wrong", Boolean(wrong));
    });
  };
  const countAll = () => document.querySelectorAll("[data-grid] .studio-row").forEach(count);

  const dress = (row) => {
    narrow(row);
    row.querySelectorAll("[data-bound]").forEach((bound) => inputRow(bound) === row && clearable(bound));
    blank(row);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-unfold]");
    if (button) studio.unfold(button.closest("[data-row]"));
  });
  // What is filled from an input follows its name.
  document.addEventListener("input", (event) => {
    const row = inputRow(event.target);
    if (!row || event.target !== field(row, "name")) return;
    for (const bound of bounds(row).querySelectorAll("[data-bound]")) field(bound, "value_text").value = event.target.value;
  });
  document.addEventListener("change", (event) => {
    const row = inputRow(event.target);
    if (!row || event.target !== field(row, "type")) return;
    narrow(row);
    blank(row);
  });
  document.addEventListener("row:completed", (event) => narrow(event.target));
  document.addEventListener("row:added", (event) => event.target.matches(".studio-input-row") && dress(event.target));
  document.addEventListener("items:offered", (event) => event.target.querySelectorAll(".studio-input-row").forEach(dress));
  document.addEventListener("live:shown", countAll);
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".studio-input-row").forEach((row) => {
      dress(row);
      const more = row.querySelector(":scope > [data-more]");
      if (more.querySelector(".finding-blocking, .studio-errors")) studio.unfold(row, true);
    });
    countAll();
  });
})();
