"use strict";

// The platform's state, and “Refresh metadata”. Asked apart from the page: a platform that is away may take its time.
(() => {
  const show = async (place, asked) => {
    place.setAttribute("aria-busy", "true");
    try {
      const answer = await asked;
      if (!answer.ok) throw new Error(String(answer.status));
      place.innerHTML = await answer.text();
    } catch {
      place.textContent = "✖";
    }
    place.removeAttribute("aria-busy");
  };

  const refresh = async (button) => {
    const place = button.closest("[data-platform-state]");
    const body = new FormData();
    body.append("csrfmiddlewaretoken", button.dataset.token);
    button.disabled = true;
    await show(place, fetch(button.dataset.refresh, { method: "POST", body }));
    place.querySelector("[data-refresh]")?.focus();
    document.dispatchEvent(new Event("metadata:refreshed"));
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-refresh]");
    if (button) refresh(button);
  });
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-platform-state]").forEach((place) => {
      show(place, fetch(place.dataset.platformState, { credentials: "same-origin" }));
    });
  });
})();
