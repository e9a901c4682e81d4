"use strict";

// “Fix”: fields are set and rows added as a finding proposes; nothing is saved by it.
(() => {
  // An entity property stands in the row of the input that fills it.
  const add = (prefix, values) => {
    const isFilled = prefix === "bindings" && values.source === "input";
    const input = isFilled && studio.rows.all("inputs").find((row) => studio.rows.field(row, "name").value === values.value_text);
    return input ? studio.bind(input, values.attribute) : studio.rows.add(prefix, values);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-fix]");
    if (!button) return;
    const { set, rows } = JSON.parse(button.dataset.fix);
    const fields = Object.entries(set).map(([name, value]) => [studio.rows.named(name), value]).filter(([field]) => field);
    fields.forEach(([field, value]) => studio.set(field, value));
    const added = Object.entries(rows).flatMap(([prefix, made]) => made.map((values) => add(prefix, values)));
    const [place] = [...fields.map(([field]) => field), ...added];
    if (!place) return;
    (place.hidden ? place.parentElement : place).scrollIntoView({ block: "center" });
    place.focus?.();
  });
})();
