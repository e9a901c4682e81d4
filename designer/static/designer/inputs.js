"use strict";

// The line that stands for a folded input says what it is, as it is typed; one with findings is open.
(() => {
  const retitle = (row) => {
    const value = (name) => studio.rows.field(row, name)?.value || "";
    const summary = row.querySelector("[data-summary]");
    const required = studio.rows.field(row, "required")?.checked;
    if (!summary || !studio.rows.field(row, "name")) return;
    const type = value("type");
    const facts = [type, required ? studio.data().texts.required : ""].filter(Boolean).join(", ");
    summary.textContent = `${value("name") || "…"}${facts ? ` – ${facts}` : ""}`;
  };

  document.addEventListener("input", (event) => {
    const row = event.target.closest?.("[data-row]");
    if (row) retitle(row);
  });
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-row]").forEach(retitle);
    document.querySelectorAll("[data-row] details").forEach((details) => {
      if (details.querySelector(".finding, .studio-errors")) details.open = true;
    });
  });
})();
