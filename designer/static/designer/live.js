"use strict";

// Says of the page as it stands, unsaved, what the server would say of it saved: findings at their fields.
(() => {
  // Milliseconds after a key. The server is asked once at a time: what changes meanwhile is asked next.
  const PAUSE = 60;
  let form = null;
  let waiting = null;
  let asking = null;
  let next = null;
  let hasChanged = false;

  const places = () => document.querySelectorAll("[data-findings]");

  const counts = (state) => {
    document.querySelectorAll("[data-section]").forEach((link) => {
      const section = document.getElementById(`section-${link.dataset.section}`);
      const own = [...(section?.querySelectorAll("[data-findings]") || [])].map((node) => state.counts[node.dataset.findings]);
      const sum = (at) => own.reduce((total, pair) => total + (pair ? pair[at] : 0), 0);
      const shown = [
        ["count-blocking", "✖", sum(0)],
        ["count-warning", "⚠", sum(1)],
      ].filter(([, , count]) => count);
      link.querySelector("[data-counts]").replaceChildren(
        ...shown.map(([name, sign, count]) => {
          const span = document.createElement("span");
          span.className = name;
          span.textContent = ` ${sign}${count}`;
          return span;
        }),
      );
    });
  };

  const show = (state) => {
    if (state.data) Object.assign(studio.data(), state.data);
    // As the server writes it: a path breaks before a slash, and not in the middle of a word.
    const parts = state.path.split(/(?<=\S)(?=\/)/);
    const broken = parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part]));
    document.querySelector("[data-path]").replaceChildren(...broken);
    document.querySelector("[data-state]").innerHTML = state.state;
    document.querySelector("[data-verdict]").textContent = state.verdict;
    // That nothing was saved stays to be read until somebody changes something: scripts ask for a check, too.
    const over = hasChanged ? ".studio-refused, [data-errors-of]" : "[data-errors-of]";
    document.querySelectorAll(over).forEach((node) => node.remove());
    // A field that has something to be said is there to be shown with it.
    for (const place of [...Object.keys(state.findings), ...Object.keys(state.errors)]) studio.rows.named(place);
    const held = new Set([...places()].map((node) => node.dataset.findings));
    const elsewhere = Object.keys(state.findings).filter((place) => !held.has(place));
    places().forEach((node) => {
      const place = node.dataset.findings;
      const errors = state.errors[place] ? `<ul class="studio-errors">${state.errors[place]}</ul>` : "";
      const own = place === "" ? ["", ...elsewhere] : [place];
      const html = errors + own.map((name) => state.findings[name] || "").join("");
      if (node.innerHTML.trim() !== html.trim()) node.innerHTML = html;
    });
    if (Object.keys(state.columns).length) studio.data().columns = state.columns;
    studio.data().fetched = state.fetched;
    studio.asked = state.asked;
    document.dispatchEvent(new Event("live:shown"));
    document.querySelectorAll("[data-words]").forEach((node) => {
      node.textContent = state.words[node.dataset.words] || "";
    });
    const preview = document.querySelector("[data-preview]");
    if (preview.innerHTML.trim() !== state.preview.trim()) preview.innerHTML = state.preview;
    counts(state);
  };

  // `also` are fields that the form does not have.
  const send = async (also) => {
    // The form has no files, and hundreds of fields: parts of a multipart body take the server longer than all else.
    const sent = new URLSearchParams(new FormData(form));
    for (const [name, value] of Object.entries(also)) sent.append(name, value);
    try {
      const answer = await fetch(form.dataset.check, { method: "POST", body: sent });
      if (answer.ok) show(await answer.json());
    } catch (error) {
      console.warn(error);
    }
  };
  const ask = async (also = {}) => {
    next = { ...next, ...also };
    while (asking) await asking;
    if (!next) return;
    asking = send(next);
    next = null;
    await asking;
    asking = null;
  };

  const later = (event) => {
    // Fields of another form may stand among its own.
    if (event?.target.form && event.target.form !== form) return;
    if (event?.isTrusted) hasChanged = true;
    clearTimeout(waiting);
    waiting = setTimeout(() => ask(), PAUSE);
  };

  // Without https, or where the browser does not permit it, there is no clipboard for scripts: the text is selected
  // instead, and copied from there where that is possible.
  const copy = async (node) => {
    try {
      await navigator.clipboard.writeText(node.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(node);
      return document.execCommand("copy");
    }
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button || !(await copy(button.parentElement.nextElementSibling))) return;
    const { textContent } = button;
    const copied = `✔ ${button.dataset.copy}`;
    if (textContent === copied) return;
    button.textContent = copied;
    setTimeout(() => { button.textContent = textContent; }, 2000);
  });
  document.addEventListener("DOMContentLoaded", () => {
    const url = document.querySelector("[data-check-url]")?.dataset.checkUrl;
    form = document.querySelector("#content-main form");
    if (!url || !form) return;
    form.dataset.check = url;
    form.addEventListener("input", later);
    form.addEventListener("change", later);
    document.addEventListener("metadata:refreshed", async () => {
      await ask({ _metadata: "1" });
      document.querySelectorAll("[data-stale]").forEach((node) => node.remove());
    });
    if (form.querySelector("[data-fetchxml]")) later();
  });
})();
