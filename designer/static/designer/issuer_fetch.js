"use strict";

// “Fetch from the issuer's address”: says what the issuer's OpenID configuration holds, and fills the form.
const askForIssuer = studio.newest((answer) => answer.json());

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-fetch-issuer]");
  if (!button) return;
  const told = document.querySelector("[data-fetched]");
  const form = button.form || document.querySelector("#issuer_form");
  told.setAttribute("aria-busy", "true");
  try {
    const asked = new FormData();
    for (const name of ["csrfmiddlewaretoken", "issuer", "key_url"]) {
      asked.set(name, form.elements[name]?.value ?? "");
    }
    const found = await askForIssuer(button.dataset.fetchIssuer, { method: "POST", body: asked });
    if (found === null) return;
    told.replaceChildren(...(found.found ?? [`✖ ${found.problem}`]).map(line));
    fill(form, found.fields);
  } catch (error) {
    told.replaceChildren(studio.failed(error));
  }
  told.removeAttribute("aria-busy");
});

function line(text) {
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  return paragraph;
}

function fill(form, fields) {
  for (const [name, value] of Object.entries(fields)) {
    if (Array.isArray(value)) {
      for (const box of form.querySelectorAll(`input[name="${name}"]`)) box.checked = value.includes(box.value);
    } else if (form.elements[name]) {
      form.elements[name].value = value;
      form.elements[name].dispatchEvent(new Event("change", { bubbles: true }));
    }
  }
}
