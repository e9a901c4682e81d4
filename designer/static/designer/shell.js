"use strict";

// What surrounds every page, for those who do not see it, or do not use a mouse.
window.studio = window.studio || {};

(() => {
  // Asks the service. Of what is not answered as it should be, the error's message says what to do, in the reader's
  // language: in the service's own words where it has some. Without a session, the login answers instead.
  const LOGIN = /\/login\/$/;
  const words = () => document.getElementById("studio-palette-opener")?.dataset || {};
  studio.ask = async (url, options) => {
    const answer = await fetch(url, options).catch(() => null);
    if (answer?.redirected && LOGIN.test(new URL(answer.url).pathname)) throw new Error(words().ended);
    if (answer?.ok) return answer;
    const isJson = answer?.headers.get("Content-Type")?.startsWith("application/json");
    const { away } = isJson ? await answer.json() : {};
    throw new Error(away || (answer ? `${words().failed} (${answer.status})` : words().failed));
  };
  // What a list says that has nothing of what was looked for.
  studio.nothing = () => words().none;
  // Asks for one place of the page, of which only the newest request counts: a later one ends those before it. Made
  // once for each place; gives what `read` finds in the answer, or null of a request that a later one has ended.
  studio.newest = (read = (answer) => answer.text()) => {
    let newest = null;
    return async (url, options) => {
      newest?.abort();
      const own = new AbortController();
      newest = own;
      try {
        const found = await read(await studio.ask(url, { ...options, signal: own.signal }));
        return own.signal.aborted ? null : found;
      } catch (error) {
        if (own.signal.aborted) return null;
        throw error;
      }
    };
  };
  // What could not be shown, as a line; with a button that does it again where somebody can wait for that.
  studio.failed = (error, again = null) => {
    const line = document.createElement("p");
    line.className = "studio-errors";
    line.setAttribute("role", "alert");
    line.textContent = `✖ ${error.message} `;
    if (again) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "studio-button studio-button-small", textContent: words().again });
      button.addEventListener("click", again);
      line.append(button);
    }
    return line;
  };

  // Icons are words in a font of pictures: nobody should hear “arrow_circle_down”.
  const quiet = (node) => node.querySelectorAll(".material-symbols-outlined").forEach((icon) => icon.setAttribute("aria-hidden", "true"));

  // The sidebar: beside the page where there is room, and then remembered; over it where there is none.
  document.addEventListener("alpine:init", () => {
    window.Alpine.store("sidebar", {
      isOpen: localStorage.getItem("studioSidebar") !== "closed",
      isOver: false,
      toggle() {
        this.isOpen = !this.isOpen;
        localStorage.setItem("studioSidebar", this.isOpen ? "open" : "closed");
      },
    });
  });

  // Newer releases of the look act on single letters wherever no text is typed: a “c” that looks for *Create* in a
  // list of choices would open another page, and lose this one. Of these keys the studio has one: “/” searches.
  const isTyping = (node) => node.matches("input, textarea, select, [contenteditable]");
  window.addEventListener("keydown", (event) => {
    if (event.key.length > 1 || event.ctrlKey || event.metaKey) return;
    event.stopImmediatePropagation();
    const search = document.getElementById("searchbar");
    if (event.key !== "/" || !search || isTyping(event.target)) return;
    event.preventDefault();
    search.focus();
  });

  document.addEventListener("DOMContentLoaded", () => {
    quiet(document);
    document.addEventListener("htmx:afterSwap", (event) => quiet(event.target));
    document.querySelector("#nav-sidebar-apps a.active")?.scrollIntoView({ block: "nearest" });
    // The look would write a chosen file's name into some text field near by: it expects one of its own there.
    document.querySelectorAll("input[type=file]").forEach((field) => (field.hasChangeListener = true));
  });
  // What other scripts have made by the time the page has loaded: the signs of Django's two lists, which have a label
  // but no role; and the look's searchable lists, which are called by what is chosen in them alone.
  const call = (select) => {
    const box = select.nextElementSibling?.querySelector(".select2-selection");
    const label = select.labels?.[0];
    if (!box || !label) return;
    label.id ||= `label-${select.id}`;
    box.setAttribute("aria-labelledby", `${label.id} ${box.getAttribute("aria-labelledby") || ""}`);
  };
  // The look writes the headings of narrow lists with capitals in every word, or with none.
  const begin = (cell) => (cell.dataset.label = cell.dataset.label.charAt(0).toUpperCase() + cell.dataset.label.slice(1));
  const mend = () => {
    document.querySelectorAll("#result_list [data-label]").forEach(begin);
    document.querySelectorAll(".help-tooltip[aria-label]").forEach((sign) => sign.setAttribute("role", "img"));
    document.querySelectorAll("select.select2-hidden-accessible").forEach(call);
  };
  window.addEventListener("load", () => setTimeout(mend));

  // The look asks whoever leaves a form in which something was typed. What a page has that was refused is as unsaved.
  // The look begins to listen when the page has loaded: this comes after it.
  window.addEventListener("load", () => setTimeout(() => {
    const form = document.querySelector("form.warn-unsaved-form");
    const refused = "[aria-invalid=true], .errornote, .errorlist, [role=alert]";
    if (form?.querySelector(refused)) form.querySelector("input").dispatchEvent(new Event("input"));
  }));

  // What is scrolled sideways, and has nothing in it that takes the focus, takes it itself while there is something to scroll.
  const scrolled = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }));
  window.addEventListener("load", () => document.querySelectorAll(".studio-scroll").forEach((box) => scrolled.observe(box)));

  // Django's script stands in the first field of a form that adds, unless it runs before the page has its styles. So
  // does the browser in a field with “autofocus”, such as the name at a login.
  window.addEventListener("load", () => {
    if (document.activeElement !== document.body) return;
    // Of a form that was refused, the first field to be corrected.
    const refused = document.querySelectorAll(".studio-field.errors :is(input, select, textarea)");
    const wrong = [...refused].find((field) => field.type !== "hidden" && field.checkVisibility());
    (wrong ?? document.querySelector("[autofocus]"))?.focus();
    const adds = document.querySelector("#django-admin-form-add-constants[data-model-name]");
    if (!adds || document.activeElement !== document.body) return;
    const fields = [...adds.closest("form").elements];
    fields.find((field) => field.matches("input, select, textarea") && !field.disabled && field.checkVisibility())?.focus();
  });
})();
