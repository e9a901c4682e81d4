"use strict";

// “Show” on the page of a user property: what it is for the chosen user, of the page as it stands.
const askForExample = studio.newest();

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-example]");
  if (!button) return;
  const shown = document.querySelector("[data-example-value]");
  shown.setAttribute("aria-busy", "true");
  try {
    const html = await askForExample(button.dataset.example, { method: "POST", body: new FormData(button.form) });
    if (html === null) return;
    shown.innerHTML = html;
  } catch (error) {
    shown.replaceChildren(studio.failed(error));
  }
  shown.removeAttribute("aria-busy");
});
