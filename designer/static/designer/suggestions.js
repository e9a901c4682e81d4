"use strict";

// What a value or an expression may refer to, suggested at the caret while it is typed: inputs, user properties and
// what fetchers find, each with its type. Fields say by `data-suggests` which of the two they take.
(() => {
  const MOST = 12;
  // What the bar with “Save” covers, in pixels.
  const FOOT = 80;
  const inputs = () =>
    studio.rows
      .all("inputs")
      .map((row) => [studio.rows.field(row, "name").value, studio.rows.field(row, "type").value])
      .filter(([name]) => name);
  const fetched = () =>
    Object.entries(studio.data().fetched || {}).flatMap(([name, columns]) =>
      Object.entries(columns).map(([key, { facts }]) => [`${name}.${key}`, facts]),
    );
  const user = () => Object.entries(studio.data().user || {}).map(([name, { facts }]) => [name, facts]);
  // What conditions may compare with beside properties: type, roles and claims of the caller.
  const compared = () => Object.entries(studio.data().compared || {});
  // A parameter that there is not yet, of the type that the field's condition asks for.
  const unmade = ({ dataset }, text) => {
    if (!dataset.parameterType || !/^@[A-Za-z_]\w*$/.test(text) || inputs().some(([name]) => `@${name}`.toLowerCase() === text.toLowerCase())) return [];
    const words = studio.data().texts?.add_parameter || "";
    const facts = words.replace("%(name)s", text.slice(1)).replace("%(type)s", dataset.parameterType);
    return facts ? [{ value: text, facts, adds: () => studio.query.addParameter(text.slice(1), dataset.parameterType, dataset.parameterLabel) }] : [];
  };
  const prefixed = (prefix, known) => known.map(([name, facts]) => ({ value: `${prefix}${name}`, facts }));

  // What the path's record holds or, of a column, the row that is answered.
  const recorded = (target) =>
    studio.data().on_record || target.name.startsWith("columns-")
      ? Object.entries(studio.data().columns || {}).map(([name, { facts }]) => [name, facts])
      : [];

  const OFFERED = {
    references: () => [
      ...prefixed("@", inputs()),
      ...prefixed("@user.", [...user(), ...compared()]),
      ...prefixed("@fetch.", fetched()),
    ],
    expression: (target) => [
      ...prefixed("input.", inputs()),
      ...prefixed("user.", [...user(), ...Object.entries(studio.data().surroundings || {})]),
      ...prefixed("fetch.", fetched()),
      ...prefixed("record.", recorded(target)),
    ],
  };
  // What stands before the caret and is completed. A reference begins with its sign, a name with a letter.
  const BEGUN = { references: /@[\w.:/"[\]-]*$/, expression: /(?<![\w.'"])[A-Za-z][\w.]*$/ };

  const kindOf = (field) => {
    if (!field.matches?.("input, textarea")) return "";
    if (field.dataset.suggests) return field.dataset.suggests;
    if (field.dataset.fetchxml) return "references";
    return /(^|-)expression$/.test(field.name) ? "expression" : "";
  };

  const list = document.createElement("ul");
  list.id = "studio-suggestions";
  list.className = "studio-choices studio-suggestions";
  list.setAttribute("role", "listbox");
  let field = null;
  let begun = "";
  let at = -1;

  const close = () => {
    list.remove();
    field?.removeAttribute("aria-activedescendant");
    field?.setAttribute("aria-expanded", "false");
    field = null;
  };
  const mark = (next) => {
    at = next;
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === at)));
    field.setAttribute("aria-activedescendant", list.children[at]?.id || "");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const choose = (item) => {
    const { value } = item.dataset;
    item.adds?.();
    const chosen = field;
    const end = chosen.selectionStart;
    chosen.focus();
    chosen.setSelectionRange(end - begun.length, end);
    close();
    choosing = true;
    // As typed: it can be undone, and whoever follows the field hears of it.
    if (!document.execCommand("insertText", false, value)) studio.set(chosen, value);
    choosing = false;
  };
  let choosing = false;

  const item = ({ value, facts, adds }, index) => {
    const made = document.createElement("li");
    const small = document.createElement("small");
    made.id = `${list.id}_${index}`;
    made.setAttribute("role", "option");
    made.dataset.value = value;
    made.adds = adds;
    small.textContent = facts;
    made.append(value, small);
    return made;
  };
  // Below the field or, where the page ends before the list would, above it.
  const place = (target) => {
    const { left, top, bottom, width } = target.getBoundingClientRect();
    Object.assign(list.style, { insetInlineStart: "auto", left: `${left + window.scrollX}px`, width: `${Math.max(width, 220)}px` });
    document.body.append(list);
    const isLow = bottom + list.offsetHeight + FOOT > window.innerHeight && top > list.offsetHeight;
    list.style.top = `${window.scrollY + (isLow ? top - list.offsetHeight - 4 : bottom)}px`;
  };
  const open = (target, kind, text) => {
    const wanted = text.toLowerCase().replace(/^@/, "");
    const found = OFFERED[kind](target).filter(({ value }) => value.toLowerCase().includes(wanted) && value !== text);
    // Those that begin so come first.
    const first = found.filter(({ value }) => value.toLowerCase().startsWith(text.toLowerCase()));
    const added = unmade(target, text);
    const shown = [...[...first, ...found.filter((one) => !first.includes(one))].slice(0, MOST - added.length), ...added];
    if (!shown.length) return close();
    [field, begun] = [target, text];
    list.replaceChildren(...shown.map(item));
    place(target);
    target.setAttribute("aria-controls", list.id);
    target.setAttribute("aria-autocomplete", "list");
    target.setAttribute("aria-expanded", "true");
    return mark(0);
  };
  const offer = (target, always = false) => {
    const kind = kindOf(target);
    if (!kind || choosing) return;
    const text = target.value.slice(0, target.selectionStart).match(BEGUN[kind])?.[0] ?? "";
    if (text || always) open(target, kind, text);
    else if (field === target) close();
  };

  // Before the field's own scripts, which keep what they follow to themselves.
  document.addEventListener("input", (event) => offer(event.target), true);
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "ArrowDown" && field !== event.target && event.target.matches?.("input[data-suggests]:not([role])")) {
        event.preventDefault();
        offer(event.target, true);
      } else if (field === event.target && list.isConnected) {
        const count = list.children.length;
        if (event.key === "ArrowDown") mark((at + 1) % count);
        else if (event.key === "ArrowUp") mark((at + count - 1) % count);
        else if (event.key === "Enter" || event.key === "Tab") choose(list.children[at]);
        else if (event.key === "Escape") close();
        else return;
        event.preventDefault();
        event.stopPropagation();
      }
    },
    true,
  );
  document.addEventListener("focusout", (event) => event.target === field && close());
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();
    const chosen = event.target.closest("[data-value]");
    if (chosen) choose(chosen);
  });
})();
