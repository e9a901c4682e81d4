"use strict";

// A new user property: what it can be depends on the type of caller, so the page is asked for anew.
document.addEventListener("change", (event) => {
  if (event.target.name !== "caller_type" || !location.pathname.endsWith("/add/")) return;
  const name = event.target.form.elements.name.value;
  location.search = new URLSearchParams({ caller_type: event.target.value, name }).toString();
});
