"use strict";

// The path that a form makes, as one types; and whether its module is a new one, which may be a slip of the finger.
document.addEventListener("DOMContentLoaded", () => {
  const line = document.querySelector("[data-new-path]");
  if (!line) return;
  const { newPath, methods, newModule } = line.dataset;
  const [code, note] = line.children;
  const field = (name) => document.getElementById(`id_${name}`);
  const show = () => {
    const path = newPath.replace(/\{(\w+)\}/g, (whole, name) => field(name).value.trim() || field(name).placeholder || whole);
    code.textContent = `${methods} ${path}`.trim();
    const { value, list } = field("module");
    const isKnown = !value.trim() || [...(list?.options ?? [])].some((option) => option.value === value.trim());
    note.textContent = isKnown ? "" : newModule;
    line.hidden = false;
  };
  line.closest("form").addEventListener("input", show);
  show();
});
