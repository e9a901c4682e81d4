"use strict";

// Preview and “Try it” beside the form. What is tried is the page as it stands, unsaved; the form of a call follows the
// page, and keeps what has been typed into it.
(() => {
  let tabs = null;
  let panel = null;
  // What the call's form was made for.
  let made = "";
  const newest = studio.newest();
  // The mode of the call that is being made, "dry" or "real"; none between calls.
  let calling = "";

  const url = () => tabs.dataset.dockTabs;
  const callForm = () => panel.querySelector("[data-try-form]");
  const isShown = () => !panel.hidden;

  // With `answer`, that of the call before stays beside the new form.
  const show = (html, answer = null) => {
    const { activeElement: active } = document;
    const name = panel.contains(active) ? active.name : "";
    const { selectionStart: start, selectionEnd: end } = name ? active : {};
    // A chosen file cannot be written into another field: the field itself goes over.
    const files = [...panel.querySelectorAll("input[type=file]")].filter((field) => field.files.length);
    panel.innerHTML = html;
    if (answer) panel.querySelector("[data-try-answer]")?.replaceWith(answer);
    for (const field of files) callForm()?.elements[field.name]?.replaceWith(field);
    panel.dispatchEvent(new Event("form:shown", { bubbles: true }));
    const again = name && callForm()?.elements[name];
    again?.focus?.();
    if (again && typeof start === "number") again.setSelectionRange?.(start, end);
  };
  // Of several requests, only the newest one's answer is shown. Whether this one's is.
  const ask = async (given, answer = null) => {
    given.set("_docked", "1");
    given.set("_unsaved", studio.unsaved());
    given.set("csrfmiddlewaretoken", studio.token());
    panel.setAttribute("aria-busy", "true");
    let isAnswered = false;
    try {
      const html = await newest(url(), { method: "POST", body: given });
      if (html === null) return false;
      show(html, answer);
      isAnswered = true;
    } catch (error) {
      // What was typed into the call's form stays there.
      panel.querySelector("[role=alert][data-unanswered]")?.remove();
      const line = studio.failed(error);
      line.dataset.unanswered = "";
      panel.prepend(line);
    }
    panel.removeAttribute("aria-busy");
    calling = "";
    return isAnswered;
  };
  const follow = (answer = null) => {
    // Another form would take the place of what the call is answered: it follows then.
    if (!isShown() || calling || made === studio.asked) return;
    made = studio.asked;
    const given = callForm() ? new FormData(callForm()) : new FormData();
    given.set("_refill", "1");
    ask(given, answer);
  };
  const call = async (given) => {
    // What a call for real has done is shown, whatever is pressed meanwhile.
    if (calling === "real") return;
    calling = given.get("mode") || "dry";
    if (await ask(given)) follow(panel.querySelector("[data-try-answer]"));
  };

  const choose = (tab) => {
    for (const one of tabs.children) {
      const chosen = one === tab;
      one.setAttribute("aria-selected", String(chosen));
      one.tabIndex = chosen ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (!callForm()) made = "";
    follow();
  };

  document.addEventListener("DOMContentLoaded", () => {
    tabs = document.querySelector("[data-dock-tabs]");
    if (!tabs) return;
    panel = document.querySelector("[data-dock-try]");
    tabs.hidden = false;
    tabs.addEventListener("click", (event) => event.target.matches("[role=tab]") && choose(event.target));
    tabs.addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
      const other = [...tabs.children].find((one) => one !== event.target);
      event.preventDefault();
      choose(other);
      other.focus();
    });
    panel.addEventListener("submit", (event) => {
      event.preventDefault();
      call(new FormData(event.target, event.submitter));
    });
    document.addEventListener("live:shown", () => follow());
  });
})();
