"use strict";

// The line that stands for a folded row is its name, as it is typed; a row with findings is open.
(() => {
  document.addEventListener("input", (event) => {
    const row = event.target.closest?.("[data-row]");
    const summary = row?.querySelector(":scope > .studio-row-body > details > [data-summary]");
    if (summary) summary.textContent = studio.rows.field(row, "name").value || "…";
  });
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-row] details:has(.finding, .studio-errors)").forEach((details) => {
      details.open = true;
    });
  });
})();
