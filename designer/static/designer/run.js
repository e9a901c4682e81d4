"use strict";

// “Run” beside a query: its first records, of the page as it stands, as a chosen caller would get them.
(() => {
  const FORM = "run-form";
  const place = () => document.querySelector("[data-run-url]");
  const form = () => document.getElementById(FORM);
  const content = document.createElement("div");
  content.dataset.runContent = "";
  // The row of the data fetcher that runs; none for the endpoint's own query.
  let running = null;
  // Whether the text of the query was changed since it was sent.
  let isStale = false;
  const newest = studio.newest();

  const markStale = () => {
    isStale = true;
    const answer = content.querySelector("[data-run-answer]");
    if (!answer || answer.querySelector("[data-stale-answer]")) return;
    const said = Object.assign(document.createElement("p"), { className: "studio-help", textContent: place().dataset.stale });
    said.dataset.staleAnswer = "";
    answer.prepend(said);
  };
  // Whether the answer is shown: not where a later request was sent meanwhile, nor where there was none.
  const ask = async (given) => {
    if (running) given.append("_fetcher", studio.rows.field(running, "name").value);
    given.append("_unsaved", studio.unsaved());
    given.append("csrfmiddlewaretoken", studio.token());
    content.setAttribute("aria-busy", "true");
    isStale = false;
    let isShown = false;
    try {
      const html = await newest(place().dataset.runUrl, { method: "POST", body: given });
      if (html === null) return false;
      content.innerHTML = html;
      isShown = true;
      if (isStale) markStale();
    } catch (error) {
      content.replaceChildren(studio.failed(error));
    }
    content.removeAttribute("aria-busy");
    content.dispatchEvent(new Event("form:shown", { bubbles: true }));
    content.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
    return isShown;
  };
  const again = () => {
    const given = new FormData(form());
    given.append("run", "1");
    return ask(given);
  };
  // Who calls is asked for below the rows that are found; at first, whoever is offered first calls.
  const run = async (box, row) => {
    if (content.parentElement !== box || running !== row) {
      running = row;
      box.append(content);
      content.replaceChildren();
    }
    const isAsked = content.querySelector("[data-run-answer]") || (await ask(new FormData()));
    if (isAsked) await again();
  };

  document.addEventListener("submit", (event) => {
    if (event.target !== form()) return;
    event.preventDefault();
    again();
  });
  document.addEventListener("query:built", ({ target: area, detail: beside }) => {
    if (!place() || area.dataset.fetchxml !== "query") return;
    const box = document.createElement("section");
    const button = document.createElement("button");
    const label = document.createElement("h3");
    box.className = "studio-query-results";
    box.ariaLabel = label.textContent = place().dataset.title;
    Object.assign(button, { type: "button", className: "studio-button studio-button-primary", textContent: place().dataset.label, title: place().dataset.keys });
    button.setAttribute("aria-keyshortcuts", "Control+Enter");
    const start = () => run(box, area.closest("[data-row]"));
    button.addEventListener("click", start);
    area.closest(".studio-query").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      start();
    });
    area.addEventListener("input", () => box.contains(content) && markStale());
    box.append(label, button);
    beside.prepend(box);
  });
})();
