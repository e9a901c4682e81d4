"use strict";

// The platform's state, and “Refresh metadata”. Asked apart from the page: a platform that is away may take its time.
(() => {
  const POLL = 3000;

  // Each place shows the newest answer alone: what was asked before “Refresh metadata” may be answered after it.
  const requests = new WeakMap();
  const show = async (place, url, options) => {
    if (!requests.has(place)) requests.set(place, { newest: studio.newest(), later: null, awaits: false });
    const own = requests.get(place);
    clearTimeout(own.later);
    if (options) own.awaits = true;
    place.setAttribute("aria-busy", "true");
    try {
      const html = await own.newest(url, options);
      if (html === null) return;
      replace(place, html, own);
      if (place.querySelector("[data-pending], [data-refreshing]")) own.later = setTimeout(() => ask(place), POLL);
    } catch (error) {
      place.replaceChildren(studio.failed(error, () => ask(place)));
    }
    place.removeAttribute("aria-busy");
  };

  // What says the same as before stays, so that it is not read out at every poll. `own.awaits`: the page was there
  // before the refresh has ended.
  const replace = (place, html, own) => {
    const next = document.createElement("template");
    next.innerHTML = html;
    const pending = place.querySelector("[data-pending]");
    const hadFocus = place.contains(document.activeElement);
    if (next.content.textContent.trim() === place.textContent.trim()) return;
    place.replaceChildren(next.content);
    if (pending && !place.querySelector("[data-pending]")) place.prepend(fetched(pending));
    if (hadFocus) place.querySelector("[data-refresh]")?.focus();
    const isRefreshing = place.querySelector("[data-refreshing]") !== null;
    if (own.awaits && !isRefreshing) document.dispatchEvent(new Event("metadata:refreshed"));
    // A page that was opened after the refresh has what is new already.
    else place.querySelectorAll("[data-stale]").forEach((line) => line.remove());
    own.awaits = isRefreshing;
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

  // The refresh goes on without the page, which asks how far it is.
  const refresh = async (button) => {
    const place = button.closest("[data-platform-state]");
    const body = new FormData();
    body.append("csrfmiddlewaretoken", button.dataset.token);
    body.append("fragment", "1");
    await show(place, button.dataset.refresh, { method: "POST", body });
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-refresh]");
    if (button && button.getAttribute("aria-disabled") !== "true") refresh(button);
  });
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-platform-state]").forEach((place) => {
      // Without this script the place would say for ever that it asks.
      place.hidden = false;
      ask(place);
    });
  });
})();
