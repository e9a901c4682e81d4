"use strict";

// “Fix”: fields are set and rows added as a finding proposes; nothing is saved by it.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fix]");
  if (!button) return;
  const { set, rows } = JSON.parse(button.dataset.fix);
  let place = null;
  for (const [name, value] of Object.entries(set)) {
    const field = document.getElementsByName(name)[0];
    if (!field) continue;
    studio.set(field, value);
    place ??= field;
  }
  for (const [prefix, made] of Object.entries(rows)) {
    for (const values of made) place ??= studio.rows.add(prefix, values);
  }
  if (!place) return;
  (place.hidden ? place.parentElement : place).scrollIntoView({ block: "center" });
  place.focus?.();
});
