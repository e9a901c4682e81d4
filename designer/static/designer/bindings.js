"use strict";

// The value of an entity property that no input fills: an editor for what it is taken from, above the text field that
// is sent.
(() => {
  const field = (row, name) => studio.rows.field(row, name);
  const option = (value, text) => new Option(text, value);
  // Those of a list's items are filled from the items' inputs, and are attributes of the items' entity.
  const isOfItem = (row) => Boolean(row.closest("[data-items]"));
  const inputs = (row) =>
    studio.rows.all(isOfItem(row) ? row.dataset.row.replace(/-properties-\d+$/, "-items") : "inputs").map((row) => ({ name: field(row, "name").value, type: field(row, "type").value }));
  const attributeOf = (row) => {
    const select = field(row, "attribute");
    return studio.data()[select.dataset.picker]?.[select.value];
  };
  // What fetchers find: `fetcher.column` with its type.
  const fetched = () =>
    Object.entries(studio.data().fetched || {}).flatMap(([name, columns]) =>
      Object.entries(columns).map(([key, column]) => [`${name}.${key}`, column]),
    );

  const named = (text) => text.replace(/^@(user\.|fetch\.)?/, "");

  const list = (present, choices) => {
    const select = document.createElement("select");
    select.append(option("", "—"), ...choices);
    if (present && ![...select.options].some((known) => known.value === present)) {
      select.append(option(present, `${present} ?`));
    }
    select.value = present;
    return select;
  };

  const entry = (type, present) => {
    const input = document.createElement(type === "area" ? "textarea" : "input");
    if (type === "area") input.rows = 1;
    else input.type = type;
    input.value = present;
    return input;
  };

  // A moment in UTC, chosen from a calendar; any other way of writing one stays a text.
  const DAY = /^\d{4}-\d{2}-\d{2}$/;
  const UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?Z$/;
  const moment = (present) => {
    const input = entry("datetime-local", present.replace(/Z$/, ""));
    input.title = "UTC";
    input.studioValue = () => (input.value ? `${input.value.length === 16 ? `${input.value}:00` : input.value}Z` : "");
    return input;
  };

  const LIST = /^(\s*\[[-\d\s,]*\]\s*)?$/;
  // A value that is no option any more stays among them until somebody takes it out.
  const several = (options, present) => {
    const select = document.createElement("select");
    const chosen = new Set(present.match(/-?\d+/g) || []);
    const known = new Set(options.map(([value]) => value));
    const offered = [...options.map(([value, label]) => [value, `${label} (${value})`]), ...[...chosen].filter((value) => !known.has(value)).map((value) => [value, `${value} ?`])];
    select.multiple = true;
    select.size = Math.min(offered.length, 5);
    select.append(...offered.map(([value, text]) => new Option(text, value, false, chosen.has(value))));
    select.studioValue = () => {
      const values = [...select.selectedOptions].map((one) => one.value);
      return values.length ? `[${values.join(", ")}]` : "";
    };
    return select;
  };

  const constant = (attribute, present) => {
    const texts = studio.data().texts;
    if (attribute?.options?.length && attribute.editor === "option") {
      return list(present, attribute.options.map(([value, label]) => option(value, `${label} (${value})`)));
    }
    if (attribute?.editor === "boolean") return list(present, [option("true", texts.yes), option("false", texts.no)]);
    if (attribute?.editor === "date" && (!present || DAY.test(present))) return entry("date", present);
    if (attribute?.editor === "datetime" && (!present || UTC.test(present))) return moment(present);
    if (attribute?.options?.length && attribute.editor === "options" && LIST.test(present)) return several(attribute.options, present);
    // Any other field than a text area joins lines.
    const input = entry(attribute?.type === "Memo" || /[\r\n]/.test(present) ? "area" : "text", present);
    if (attribute?.editor === "number") input.inputMode = "decimal";
    return input;
  };

  const editor = (row) => {
    const present = field(row, "value_text").value;
    const { user } = studio.data();
    switch (field(row, "source").value) {
      case "input":
        return list(named(present), inputs(row).filter(({ name }) => name).map(({ name, type }) => option(name, `@${name} – ${type}`)));
      case "user":
        return list(named(present), Object.entries(user).map(([name, { facts }]) => option(name, `@user.${name} – ${facts}`)));
      case "constant":
        return constant(attributeOf(row), present);
      case "fetch":
        return list(named(present), fetched().map(([name, { facts }]) => option(name, `@fetch.${name} – ${facts}`)));
      default: {
        const area = entry("area", present);
        area.dataset.suggests = "expression";
        return area;
      }
    }
  };

  const dress = (row) => {
    const sent = field(row, "value_text");
    if (!sent || row.matches("[data-bound]") || !studio.data().attributes) return;
    let box = row.querySelector(".studio-editor");
    if (!box) {
      box = document.createElement("div");
      box.className = "studio-editor";
      sent.after(box);
      sent.hidden = true;
    }
    const made = editor(row);
    made.className = sent.className;
    made.id = `${sent.id}_editor`;
    row.querySelector(`label[for="${sent.id}"]`)?.setAttribute("for", made.id);
    made.setAttribute("aria-label", row.querySelector(`label[for="${made.id}"]`)?.textContent || "");
    if (sent.hasAttribute("aria-describedby")) made.setAttribute("aria-describedby", sent.getAttribute("aria-describedby"));
    made.addEventListener("input", (event) => {
      event.stopPropagation();
      studio.set(sent, made.studioValue ? made.studioValue() : made.value);
    });
    made.addEventListener("change", (event) => event.stopPropagation());
    box.replaceChildren(made);
  };

  const dressAll = () => {
    const active = document.activeElement;
    document.querySelectorAll(".studio-rows-bindings [data-row]").forEach((row) => {
      if (!row.querySelector(".studio-editor")?.contains(active)) dress(row);
    });
  };

  document.addEventListener("DOMContentLoaded", dressAll);
  document.addEventListener("live:shown", dressAll);
  document.addEventListener("row:added", (event) => event.target.closest("[data-rows]")?.matches(".studio-rows-bindings") && dress(event.target));
  document.addEventListener("change", (event) => {
    const name = event.target.name || "";
    const row = event.target.closest?.("[data-row]");
    if (/(^bindings|-properties)-\d+-(source|attribute)$/.test(name)) dress(row);
    else if (/(^bindings|-properties)-\d+-value_text$/.test(name)) {
      if (!row.querySelector(".studio-editor")?.contains(document.activeElement)) dress(row);
    } else if (/^(inputs|fetchers)-.*(name|type|DELETE)$/.test(name)) dressAll();
  });
})();
