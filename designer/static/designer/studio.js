"use strict";

// A row that was just added is there to be filled in: open it and go to its first field.
document.addEventListener("formset:added", (event) => {
  requestAnimationFrame(() => {
    const row = event.target;
    row.querySelector("h3")?.click();
    row.querySelector("input:not([type=hidden]), select")?.focus();
  });
});
