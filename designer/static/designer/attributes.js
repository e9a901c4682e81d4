"use strict";

// “Add from attributes”: tick attributes, and rows for them appear with names, types and lengths filled in.
(() => {
  const taken = (prefix) =>
    new Set(studio.rows.all(prefix).map((row) => studio.rows.field(row, "attribute")?.value).filter(Boolean));

  // Where the properties stand that are filled from inputs: beside them, of the endpoint or of a list's items.
  const bindingsBeside = (inputs) => (inputs === "inputs" ? "bindings" : inputs.replace(/-items$/, "-properties"));
  const offered = (prefix) => {
    if (prefix === "columns") return studio.data().columns;
    const items = document.querySelector(`[data-rows="${prefix}"]`).closest("[data-items]");
    return (items ? studio.lists.attributes(items) : studio.data().attributes) || {};
  };

  const addInput = (prefix, name, attribute) => {
    // Two inputs cannot differ in case alone.
    const called = attribute.input.name.toLowerCase();
    const known = () => studio.rows.all(prefix).find((row) => studio.rows.field(row, "name").value.toLowerCase() === called);
    if (!known()) studio.rows.add(prefix, attribute.input);
    if (document.querySelector(`[data-rows="${bindingsBeside(prefix)}"]`)) studio.bind(known(), name);
  };

  // A record that a process makes: its row, and in it the inputs that the record must have.
  const addGroup = async (group) => {
    const row = studio.rows.add("inputs", group.input);
    const prefix = await studio.lists.offered(row);
    Object.entries(offered(prefix))
      .filter(([, attribute]) => attribute.required && attribute.settable && attribute.input)
      .forEach(([name, attribute]) => addInput(prefix, name, attribute));
  };
  const groups = (kind) => (kind === "inputs" ? studio.lists.groups() : {});

  const open = (kind) => {
    const dialog = document.getElementById("attribute-dialog");
    const known = [
      ...Object.entries(offered(kind)).filter(
        ([, attribute]) => kind === "columns" || (attribute.settable && attribute.input),
      ),
      ...Object.entries(groups(kind)),
    ];
    const used = taken(kind === "columns" ? "columns" : bindingsBeside(kind));
    const holdsRecords = (row) => studio.data().lists.includes(studio.rows.field(row, "type").value);
    if (kind === "inputs") studio.rows.all(kind).filter(holdsRecords).forEach((row) => used.add(studio.rows.field(row, "relationship")?.value));
    const list = dialog.querySelector("[data-choices]");
    list.replaceChildren(
      ...known.map(([name, attribute]) => {
        const item = document.createElement("li");
        const label = document.createElement("label");
        const box = document.createElement("input");
        const title = document.createElement("span");
        const facts = document.createElement("small");
        box.type = "checkbox";
        box.value = name;
        box.disabled = box.checked = used.has(name);
        if (attribute.required && kind !== "columns") box.checked = true;
        title.textContent = attribute.label === name ? name : `${attribute.label} (${name})`;
        facts.textContent = attribute.facts;
        label.append(box, title, facts);
        item.append(label);
        return item;
      }),
    );
    const search = dialog.querySelector("[data-search]");
    search.value = "";
    dialog.dataset.kind = kind;
    dialog.showModal();
    search.focus();
  };

  const add = (dialog) => {
    const { kind } = dialog.dataset;
    const known = offered(kind);
    const held = groups(kind);
    const chosen = [...dialog.querySelectorAll("[data-choices] input:checked:not(:disabled)")].map((box) => box.value);
    for (const name of chosen) {
      if (held[name]) addGroup(held[name]);
      else if (kind === "columns") studio.rows.add(kind, { attribute: name, name: known[name].output });
      else addInput(kind, name, known[name]);
    }
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-add-attributes]");
    if (button) open(button.dataset.addAttributes);
  });
  document.addEventListener("input", (event) => {
    if (!event.target.matches("#attribute-dialog [data-search]")) return;
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    document.querySelectorAll("#attribute-dialog [data-choices] li").forEach((item) => {
      item.hidden = !words.every((word) => item.textContent.toLowerCase().includes(word));
    });
  });
  document.addEventListener("DOMContentLoaded", () => {
    const dialog = document.getElementById("attribute-dialog");
    dialog?.addEventListener("close", () => dialog.returnValue === "add" && add(dialog));
    dialog?.querySelector("[data-search]").addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
  });
})();
