"use strict";

// “Run” beside a query: its first records, of the page as it stands.
(() => {
  const dialog = () => document.getElementById("run-dialog");
  const content = () => dialog().querySelector("[data-run-content]");
  // The row of the data fetcher that runs; none for the endpoint's own query.
  let running = null;

  const ask = async (given) => {
    if (running) given.append("_fetcher", studio.rows.field(running, "name").value);
    given.append("_unsaved", studio.unsaved());
    given.append("csrfmiddlewaretoken", studio.token());
    content().setAttribute("aria-busy", "true");
    const answer = await fetch(document.querySelector("[data-run-url]").dataset.runUrl, { method: "POST", body: given });
    content().removeAttribute("aria-busy");
    content().innerHTML = answer.ok ? await answer.text() : `${answer.status}`;
    content().dispatchEvent(new Event("form:shown", { bubbles: true }));
    content().querySelector("select, input, button")?.focus();
  };

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-run-form]")) return;
    event.preventDefault();
    ask(new FormData(event.target, event.submitter));
  });
  const offer = (area) => {
    const place = document.querySelector("[data-run-url]");
    if (!place || area.name.includes("__prefix__")) return;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "studio-button studio-button-primary", textContent: place.dataset.label });
    button.addEventListener("click", () => {
      running = area.closest("[data-row]");
      dialog().showModal();
      ask(new FormData());
    });
    area.closest(".studio-value").append(button);
  };
  const offerIn = (node) => node.querySelectorAll("textarea[data-fetchxml=query]").forEach(offer);
  document.addEventListener("DOMContentLoaded", () => offerIn(document));
  document.addEventListener("row:added", (event) => event.target.matches("[data-row]") && offerIn(event.target));
})();
