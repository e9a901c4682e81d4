"use strict";

// “Show” on the page of a user property: what it is for the chosen user, of the page as it stands.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-example]");
  if (!button) return;
  const shown = document.querySelector("[data-example-value]");
  shown.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(button.dataset.example, { method: "POST", body: new FormData(button.form) });
    shown.innerHTML = answer.ok ? await answer.text() : `✖ ${answer.status}`;
  } catch {
    shown.textContent = "✖";
  }
  shown.removeAttribute("aria-busy");
});
