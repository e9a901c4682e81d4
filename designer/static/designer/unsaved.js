"use strict";

// The page as it stands, for what is done with it before it is saved; “Try it” takes it along into another tab.
(() => {
  const form = () => document.querySelector("#content-main form");
  const token = () => form().querySelector("[name=csrfmiddlewaretoken]").value;
  let changed = false;

  studio.unsaved = () => {
    const sent = [...new FormData(form())].filter(([name, value]) => typeof value === "string" && name !== "csrfmiddlewaretoken");
    return new URLSearchParams(sent).toString();
  };
  studio.token = token;

  const open = (url) => {
    const made = document.createElement("form");
    made.method = "post";
    made.action = url;
    made.target = "_blank";
    for (const [name, value] of [["csrfmiddlewaretoken", token()], ["_unsaved", studio.unsaved()]]) {
      const input = document.createElement("input");
      Object.assign(input, { type: "hidden", name, value });
      made.append(input);
    }
    document.body.append(made);
    made.submit();
    made.remove();
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-try]");
    if (!link || (!changed && !link.dataset.try)) return;
    event.preventDefault();
    open(link.href);
  });
  const note = (event) => { changed ||= Boolean(event.target.form) && event.target.form === form(); };
  document.addEventListener("change", note);
  document.addEventListener("input", note);
})();
