"use strict";

// What was typed outlives a login that ended meanwhile. A form that is sent is kept in the tab until the next page has
// loaded. If that page is the login, or says that the form could not be accepted, the next page of the same account
// offers to send the form again.
(() => {
  const KEPT = "studioKeptForm";
  const read = () => JSON.parse(sessionStorage.getItem(KEPT) || "null");
  const write = (kept) => {
    // A tab has some MB: what does not fit is not kept, and sending it goes on.
    try { sessionStorage.setItem(KEPT, JSON.stringify(kept)); } catch { sessionStorage.removeItem(KEPT); }
  };
  const forget = () => sessionStorage.removeItem(KEPT);
  const account = () => document.querySelector("[data-account]")?.dataset.account;

  // Neither passwords nor pasted tokens are kept anywhere.
  const isSecret = (form) => form.querySelector("input[type=password]") || form.matches("[data-secret]");

  window.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post" || form.target || !account() || isSecret(form)) return;
    const sent = [...new FormData(form, event.submitter)];
    const fields = sent.filter(([name, value]) => typeof value === "string" && name !== "csrfmiddlewaretoken");
    const hasFiles = sent.some(([, value]) => value instanceof File && value.name);
    // Without the name of the studio, which ends every title.
    const title = document.title.split(" | ").slice(0, -1).join(" | ").trim();
    write({ account: account(), action: form.action, title, fields, hasFiles });
  });

  const sendAgain = (kept) => {
    const form = document.createElement("form");
    Object.assign(form, { method: "post", action: kept.action, hidden: true });
    const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
    for (const [name, value] of [["csrfmiddlewaretoken", token], ...kept.fields]) {
      // A text area keeps the lines of a text.
      const field = Object.assign(document.createElement("textarea"), { name, value });
      form.append(field);
    }
    document.body.append(form);
    form.requestSubmit();
  };

  const offer = (kept) => {
    const box = document.getElementById("studio-kept-form").content.firstElementChild.cloneNode(true);
    box.querySelector("[data-title]").textContent = kept.title;
    box.querySelector("[data-files]").hidden = !kept.hasFiles;
    box.querySelector("[data-send]").addEventListener("click", () => sendAgain(kept));
    box.querySelector("[data-discard]").addEventListener("click", () => { forget(); box.remove(); });
    document.getElementById("content").prepend(box);
  };

  document.addEventListener("DOMContentLoaded", () => {
    const kept = read();
    if (!kept) return;
    if (!account() || document.querySelector("[data-not-accepted]")) return write({ ...kept, isLost: true });
    if (!kept.isLost || kept.account !== account()) return forget();
    offer(kept);
  });
})();
