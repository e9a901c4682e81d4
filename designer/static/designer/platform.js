"use strict";

// The platform's state, and “Refresh metadata”. Asked apart from the page: a platform that is away may take its time.
(() => {
  const POLL = 3000;

  const show = async (place, asked) => {
    place.setAttribute("aria-busy", "true");
    try {
      const answer = await asked;
      if (!answer.ok) throw new Error(String(answer.status));
      const before = place.querySelector("[data-pending]");
      place.innerHTML = await answer.text();
      if (place.querySelector("[data-pending]")) setTimeout(() => ask(place), POLL);
      else if (before) place.prepend(fetched(before));
    } catch {
      place.textContent = "✖";
    }
    place.removeAttribute("aria-busy");
  };

  const ask = (place) => show(place, fetch(place.dataset.platformState, { credentials: "same-origin" }));

  // The page does not reload itself: somebody may have begun to fill it in.
  const fetched = (before) => {
    const line = document.createElement("p");
    line.setAttribute("role", "status");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "studio-button";
    button.textContent = before.dataset.reload;
    button.addEventListener("click", () => location.reload());
    line.append(`✔ ${before.dataset.pending} `, button);
    return line;
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
      ask(place);
    });
  });
})();
