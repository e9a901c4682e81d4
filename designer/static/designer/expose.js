"use strict";

// The rest of the page follows from the entity: choosing one opens it.
document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-goes]") && event.target.value) event.target.form.submit();
});

// Of many attributes, those are shown that have all words. What is ticked stays ticked.
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-filters-attributes]")) return;
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  event.target.closest(".studio-value").querySelectorAll("label").forEach((label) => {
    label.parentElement.hidden = !words.every((word) => label.textContent.toLowerCase().includes(word));
  });
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("[data-filters-attributes]")) event.preventDefault();
});
