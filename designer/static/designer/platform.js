"use strict";

// The platform's state, and “Refresh metadata”. Asked apart from the page: a platform that is away may take its time.
(() => {
  const POLL = 3000;

  // Each place shows the newest answer alone: what was asked before “Refresh metadata” may be answered after it.
  const requests = new WeakMap();
  const show = async (place, url, options) => {
    if (!requests.has(place)) requests.set(place, { newest: studio.newest(), later: null });
    const own = requests.get(place);
    clearTimeout(own.later);
    place.setAttribute("aria-busy", "true");
    try {
      const html = await own.newest(url, options);
      if (html === null) return;
      const before = place.querySelector("[data-pending]");
      place.innerHTML = html;
      if (place.querySelector("[data-pending]")) own.later = setTimeout(() => ask(place), POLL);
      else if (before) place.prepend(fetched(before));
    } catch (error) {
      place.replaceChildren(studio.failed(error, () => ask(place)));
    }
    place.removeAttribute("aria-busy");
  };

  const ask = (place) => show(place, place.dataset.platformState);

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
    await show(place, button.dataset.refresh, { method: "POST", body });
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
