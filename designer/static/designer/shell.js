"use strict";

// What surrounds every page, for those who do not see it, or do not use a mouse.
(() => {
  // Icons are words in a font of pictures: nobody should hear “arrow_circle_down”.
  const quiet = (node) => node.querySelectorAll(".material-symbols-outlined").forEach((icon) => icon.setAttribute("aria-hidden", "true"));

  document.addEventListener("DOMContentLoaded", () => {
    quiet(document);
    document.addEventListener("htmx:afterSwap", (event) => quiet(event.target));
    document.querySelector("#nav-sidebar-apps a.active")?.scrollIntoView({ block: "nearest" });
    // The look would write a chosen file's name into some text field near by: it expects one of its own there.
    document.querySelectorAll("input[type=file]").forEach((field) => (field.hasChangeListener = true));
  });
  // What other scripts have made by the time the page has loaded: the signs of Django's two lists, which have a label
  // but no role; and the look's searchable lists, which are called by what is chosen in them alone.
  const call = (select) => {
    const box = select.nextElementSibling?.querySelector(".select2-selection");
    const label = select.labels?.[0];
    if (!box || !label) return;
    label.id ||= `label-${select.id}`;
    box.setAttribute("aria-labelledby", `${label.id} ${box.getAttribute("aria-labelledby") || ""}`);
  };
  const mend = () => {
    document.querySelectorAll(".help-tooltip[aria-label]").forEach((sign) => sign.setAttribute("role", "img"));
    document.querySelectorAll("select.select2-hidden-accessible").forEach(call);
  };
  window.addEventListener("load", () => setTimeout(mend));

  // Django's script stands in the first field of a form that adds, unless it runs before the page has its styles.
  window.addEventListener("load", () => {
    const adds = document.querySelector("#django-admin-form-add-constants[data-model-name]");
    if (!adds || document.activeElement !== document.body) return;
    const fields = [...adds.closest("form").elements];
    fields.find((field) => field.matches("input, select, textarea") && !field.disabled && field.checkVisibility())?.focus();
  });
})();
