"use strict";

// Inputs that hold records: the rows of these come with the type, and what they offer with the relationship.
(() => {
  const field = (row, name) => studio.rows.field(row, name);
  const related = (row) => studio.data().relationships?.[field(row, "relationship")?.value];
  const source = (row) => (related(row) ? `entity:${related(row).entity}` : "");

  const offer = async (row) => {
    const of = source(row);
    const items = row.querySelector("[data-items]");
    items.querySelectorAll(":scope > [role=alert]").forEach((line) => line.remove());
    if (of && !studio.data()[of]) {
      const { attributes, error } = await studio.metadata(related(row).entity);
      if (error) items.prepend(studio.failed(error, () => offer(row)));
      else studio.data()[of] = attributes;
    }
    row.querySelectorAll("[data-items] select[data-picker]").forEach((select) => { select.dataset.picker = of; });
    row.querySelectorAll("[data-items] template").forEach((template) => {
      template.content.querySelectorAll("select[data-picker]").forEach((select) => { select.dataset.picker = of; });
    });
    items.dispatchEvent(new CustomEvent("items:offered", { bubbles: true }));
  };

  const become = (row) => {
    const isList = studio.data().lists.includes(field(row, "type")?.value);
    let items = row.querySelector("[data-items]");
    if (isList && !items) {
      const made = document.createElement("template");
      const template = row.closest("[data-rows]").querySelector(":scope > [data-items-template]");
      made.innerHTML = template.innerHTML.replaceAll("__row__", row.dataset.row);
      field(row, "relationship").closest(".studio-line").after(made.content.querySelector("[data-items]"));
      items = row.querySelector("[data-items]");
      items.querySelectorAll("[data-rows]").forEach(studio.rows.number);
      studio.unfold(row, true);
    }
    if (items) items.hidden = !isList;
    if (isList) offer(row);
  };

  studio.lists = {
    // What a process makes of inputs, by parameter: the button adds these, too.
    groups: () => Object.fromEntries(Object.entries(studio.data().relationships || {}).filter(([, group]) => group.input)),
    // The prefix of the inputs inside of a row, once it is known what they may be for.
    offered: async (row) => {
      await offer(row);
      return row.querySelector("[data-items] [data-rows]").dataset.rows;
    },
    attributes: (items) => {
      const row = items.closest("[data-row]");
      const { lookup } = related(row) || {};
      return Object.fromEntries(Object.entries(studio.data()[source(row)] || {}).filter(([name]) => name !== lookup));
    },
  };

  document.addEventListener("change", (event) => {
    if (/^inputs-\d+-(type|relationship)$/.test(event.target.name || "")) become(event.target.closest("[data-row]"));
  });
  document.addEventListener("DOMContentLoaded", () => {
    if (studio.data().relationships) studio.rows.all("inputs").forEach(become);
  });
})();
