"use strict";

// A calculated column among what a query answers.
document.addEventListener("DOMContentLoaded", () => {
  const actions = document.querySelector('[data-rows="columns"] .studio-row-actions');
  if (!actions || !document.querySelector('textarea[data-fetchxml="query"][name^="settings__"]')) return;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "studio-button", textContent: studio.data().texts.calculated_column });
  button.addEventListener("click", () => {
    // Without rows every column is answered: the calculated one is not to take their places.
    if (!studio.rows.all("columns").length) {
      Object.keys(studio.data().columns || {}).forEach((key) => studio.rows.add("columns", { attribute: key }));
    }
    studio.rows.field(studio.rows.add("columns"), "name").focus();
  });
  actions.append(button);
});
