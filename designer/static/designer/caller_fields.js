"use strict";

// Who calls: of the fields for a record, the one that belongs to the chosen type of caller is shown.
(() => {
  const show = (select) => {
    for (const field of select.form.elements) {
      if (!field.dataset.callerTypes) continue;
      field.closest(".studio-field").hidden = !field.dataset.callerTypes.split(" ").includes(select.value);
    }
  };
  const showIn = (node) => node.querySelectorAll("select[name=caller_type]").forEach(show);
  document.addEventListener("change", (event) => event.target.matches("select[name=caller_type]") && show(event.target));
  // A browser that goes back fills fields in after the page is there.
  addEventListener("pageshow", () => showIn(document));
  document.addEventListener("DOMContentLoaded", () => showIn(document));
  document.addEventListener("form:shown", (event) => showIn(event.target));
})();
