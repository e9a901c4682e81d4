"use strict";

// A query that is no endpoint's yet: what it finds in words, what is wrong with it, and which parameters it asks for.
(() => {
  const PAUSE = 300;
  let waiting = null;

  const ask = async (area) => {
    const { action, elements } = area.form;
    const sent = new FormData();
    sent.append("query", area.value);
    sent.append("csrfmiddlewaretoken", elements.csrfmiddlewaretoken.value);
    const url = document.querySelector("[data-words-url]").dataset.wordsUrl;
    const asked = area.value;
    sent.append("module", elements.module.value);
    const without = (error) => ({ words: "", problems: [error.message], parameters: [], name: "" });
    const answered = studio.ask(new URL(url, action || location.href), { method: "POST", body: sent });
    const { words, problems, parameters, name } = await answered.then((answer) => answer.json()).catch(without);
    if (area.value !== asked) return;
    document.querySelectorAll("[data-words]").forEach((node) => { node.textContent = words; });
    document.querySelector("[data-query-problems]").replaceChildren(
      ...problems.map((text) => Object.assign(document.createElement("li"), { textContent: `✖ ${text}` })),
    );
    const asks = document.querySelector("[data-query-parameters]");
    // What the endpoint is called when its name is left empty.
    elements.name.placeholder = name;
    elements.name.dispatchEvent(new Event("input", { bubbles: true }));
    asks.textContent = parameters.length ? `${asks.dataset.label} ${parameters.join(", ")}` : "";
  };

  document.addEventListener("DOMContentLoaded", () => {
    const area = document.querySelector(".studio-new-query textarea[data-fetchxml]");
    area.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => ask(area), PAUSE);
    });
    area.form.elements.module.addEventListener("change", () => ask(area));
    if (area.value.trim()) ask(area);
    // The first question is the entity. Whoever has begun elsewhere by the time that it can be asked stays there.
    area.addEventListener("query:built", () => {
      if (document.activeElement === document.body && !area.value.trim()) document.getElementById(`${area.id}_entity_search`)?.focus();
    });
  });
})();
