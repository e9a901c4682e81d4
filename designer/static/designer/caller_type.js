"use strict";

// A new user property: what it can be depends on the type of caller, so the page is asked for anew, with what was typed.
document.addEventListener("change", (event) => {
  if (event.target.name !== "caller_type" || !location.pathname.endsWith("/add/")) return;
  const typed = [...new FormData(event.target.form)].filter(([name, value]) => !/^_|-|^csrfmiddlewaretoken$/.test(name) && typeof value === "string" && value);
  location.search = new URLSearchParams(typed).toString();
});
