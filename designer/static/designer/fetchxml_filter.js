"use strict";

// A FetchXML filter as rows: groups of conditions, all or any of them. The XML is changed in place, so that
// whatever these rows do not show is kept.
window.studio = window.studio || {};

(() => {
  // Attributes whose values are chosen from a calendar, and operators that compare with such a value.
  const DATES = ["date", "datetime"];
  const COMPARED = ["eq", "ne", "gt", "ge", "lt", "le", "on", "on-or-before", "on-or-after"];
  const LISTS = ["in", "not-in", "contain-values", "not-contain-values", "between", "not-between"];
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key in made && key !== "list") made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };
  const button = (text, act, name = "studio-button studio-button-small") => {
    const made = element("button", { type: "button", className: name, textContent: text });
    made.addEventListener("click", act);
    return made;
  };
  const select = (label, choices, value, act) => {
    const made = element("select", { className: "studio-input", ariaLabel: label });
    made.append(...choices.map(([key, text]) => new Option(text, key)));
    if (value && !choices.some(([key]) => key === value)) made.append(new Option(value, value));
    made.value = value;
    made.addEventListener("change", (event) => {
      event.stopPropagation();
      act(made.value);
    });
    return made;
  };
  const children = (node, name) => [...node.children].filter((child) => child.tagName === name);
  const append = (parent, name, attributes = {}) => {
    const made = parent.ownerDocument.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };

  // What a control edits: its node, and which part of that. After a change all rows are drawn anew, and whoever
  // works by keyboard goes on where they were, or where what they added begins.
  const edited = new WeakMap();
  const edits = (control, node, part) => {
    edited.set(control, { node, part });
    return control;
  };
  const controlOf = (box, node, part) =>
    [...box.querySelectorAll("button, input, select")].find((control) => {
      const of = edited.get(control);
      return of?.node === node && of.part === part;
    });
  // Of a node that is taken away: its neighbour's button for that, or else the one that adds the first again.
  const nextTo = (node) => {
    const alike = children(node.parentElement, node.tagName);
    const at = alike.indexOf(node);
    const neighbour = alike[at + 1] || alike[at - 1];
    return neighbour ? [neighbour, "remove"] : [node.parentElement, `add ${node.tagName}`];
  };
  const remover = (node, texts, changed, name) => {
    const made = button(name ? "✕" : texts.remove, () => {
      const [to, part] = nextTo(node);
      node.remove();
      changed(to, part);
    }, name);
    if (name) made.ariaLabel = texts.remove;
    return edits(made, node, "remove");
  };
  const adder = (text, parent, name, make, changed) =>
    edits(button(`+ ${text}`, () => changed(make(), "first")), parent, `add ${name}`);

  // Attributes are chosen with the page's picker, under the entity's name.
  const attributePicker = (label, entity, known, value, act) => {
    const source = `entity:${entity}`;
    studio.data()[source] = known.attributes;
    const made = select(label, [["", ""]], value, act);
    made.id = `picker-${Math.random().toString(36).slice(2)}`;
    made.dataset.picker = source;
    return made;
  };

  const valuesOf = (condition) => {
    const own = condition.getAttribute("value");
    return own === null ? children(condition, "value").map((value) => value.textContent) : [own];
  };
  const setValues = (condition, operator, texts) => {
    children(condition, "value").forEach((value) => value.remove());
    condition.removeAttribute("value");
    if (LISTS.includes(operator)) {
      for (const text of texts) append(condition, "value").textContent = text;
    } else if (texts.length) condition.setAttribute("value", texts[0]);
  };

  // Several of the choices; “@…” among them means that they come from a parameter.
  const severalOf = (label, offered, present, give) => {
    const made = element("select", { className: "studio-input", ariaLabel: label, multiple: true, size: Math.min(offered.length, 5) });
    made.append(...offered.map(([value, text]) => new Option(text, value, false, present.includes(value))));
    made.addEventListener("change", (event) => {
      event.stopPropagation();
      const values = [...made.selectedOptions].map((one) => one.value);
      give(values.includes("@") ? ["@"] : values);
    });
    return made;
  };

  // Values without a choice are kept among those chosen: they are marked where they stand in the findings.
  const withPresent = (choices, present) => [
    ...choices,
    ...present.filter((value) => value && !choices.some(([key]) => key === value)).map((value) => [value, value]),
  ];

  const dateOrReference = (texts, present, give) => {
    const input = element("input", { type: "date", className: "studio-input", ariaLabel: texts.value, value: present });
    input.addEventListener("input", (event) => {
      event.stopPropagation();
      give([input.value]);
    });
    return [input, button("@…", () => give(["@"]))];
  };

  // Controls for a condition's value, the main one first.
  const valueEditor = (condition, attribute, taken, texts, changed) => {
    const operator = condition.getAttribute("operator");
    if (taken === 0) return [];
    const present = valuesOf(condition);
    const isList = LISTS.includes(operator);
    const isReference = present.some((text) => text.startsWith("@"));
    const choices = attribute?.options?.length
      ? attribute.options.map(([value, label]) => [value, `${label} (${value})`])
      : attribute?.editor === "boolean" ? [["1", texts.yes], ["0", texts.no]] : null;
    const give = (values) => {
      setValues(condition, operator, values);
      if (values.includes("@")) changed(condition, "value");
      else changed();
    };
    if (choices && !isReference) {
      const offered = [["@", "@…"], ...choices];
      return isList && operator !== "between" && operator !== "not-between"
        ? [severalOf(texts.value, withPresent(offered, present), present, give)]
        : [select(texts.value, [["", "—"], ...offered], present[0] || "", (value) => give([value]))];
    }
    if (DATES.includes(attribute?.editor) && COMPARED.includes(operator) && /^(\d{4}-\d{2}-\d{2})?$/.test(present[0] || "")) {
      return dateOrReference(texts, present[0] || "", give);
    }
    const input = element("input", {
      className: "studio-input",
      ariaLabel: texts.value,
      placeholder: isList ? texts.several : "@…",
      value: present.join(", "),
    });
    input.dataset.suggests = "references";
    input.autocomplete = "off";
    input.addEventListener("input", (event) => {
      event.stopPropagation();
      const given = isList ? input.value.split(",").map((text) => text.trim()).filter(Boolean) : [input.value];
      setValues(condition, operator, given);
      changed();
    });
    return [input];
  };

  // An operator that came with a pasted query and is not supported: it stands there as it is, with its values, until
  // another is chosen. The XML keeps it, and readiness refuses to serve it.
  const unsupported = (condition, texts) => {
    const values = valuesOf(condition).join(", ");
    const note = element("small", { className: "studio-unsupported", textContent: texts.unsupported });
    note.id = `unsupported-${Math.random().toString(36).slice(2)}`;
    return [...(values ? [element("code", { textContent: values })] : []), note];
  };

  const comparison = (condition, context) => {
    const { entity, known, operators, texts, changed } = context;
    const name = condition.getAttribute("attribute") || "";
    const given = condition.getAttribute("operator") || "";
    const attribute = attributePicker(texts.attribute, entity, known, name, (value) => {
      condition.setAttribute("attribute", value);
      changed(condition, "first");
    });
    const values = element("span", { className: "studio-either" });
    const taken = (operator) => operators.find((one) => one.name === operator)?.values;
    // The list itself stays: whoever types the name of an operator has chosen others by its first letters.
    const chosen = select(texts.operator, withPresent(operators.map((one) => [one.name, one.label]), [given]), given, (value) => {
      const present = valuesOf(condition);
      condition.setAttribute("operator", value);
      setValues(condition, value, taken(value) === 0 ? [] : present);
      changed();
      show(value);
    });
    const show = (operator) => {
      const isSupported = operators.some((one) => one.name === operator);
      const shown = isSupported ? valueEditor(condition, known.attributes[name], taken(operator), texts, changed) : unsupported(condition, texts);
      if (isSupported && shown.length) edits(shown[0], condition, "value");
      values.replaceChildren(...shown);
      if (isSupported) return ["aria-invalid", "aria-describedby"].forEach((mark) => chosen.removeAttribute(mark));
      chosen.setAttribute("aria-invalid", "true");
      chosen.setAttribute("aria-describedby", shown.at(-1).id);
    };
    show(given);
    return [edits(attribute, condition, "first"), edits(chosen, condition, "operator"), values];
  };

  const conditionRow = (condition, context) => {
    const isOwn = !condition.hasAttribute("entityname") && !condition.hasAttribute("valueof");
    const shown = isOwn
      ? comparison(condition, context)
      : [element("code", { textContent: condition.outerHTML.replace(/ xmlns="[^"]*"/g, "") })];
    const remove = remover(condition, context.texts, context.changed, "studio-tool studio-remove");
    return element("li", { className: "studio-condition" }, ...shown, remove);
  };

  // A link to be had of an entity's relationships, under an alias that is free.
  const linkAdder = (label, parent, known, type, texts, changed) => {
    const offered = (known.links || []).map((link, at) => [String(at), link.label]);
    const made = select(label, [["", `+ ${label}`], ...offered], "", (at) => {
      const { entity, from, to } = known.links[Number(at)];
      const used = new Set([...parent.ownerDocument.querySelectorAll("link-entity")].map((link) => link.getAttribute("alias")));
      let alias = entity;
      for (let count = 2; used.has(alias); count += 1) alias = `${entity}${count}`;
      changed(append(parent, "link-entity", { name: entity, from, to, "link-type": type, alias }), "first");
    });
    return edits(made, parent, "add link-entity");
  };

  // Whether there are linked records: their own conditions stand in the row, once the entity's attributes are known.
  const existence = (link, context) => {
    const { texts, changed } = context;
    const entity = link.getAttribute("name") || "";
    const types = [["any", texts.has_any], ["not any", texts.has_none], ["all", texts.has_only_others], ["not all", texts.has_not_all]];
    const type = select(texts.existence, types, link.getAttribute("link-type") || "", (value) => {
      link.setAttribute("link-type", value);
      changed();
    });
    const inside = element("div");
    const legend = element("legend", { textContent: `${entity} (${link.getAttribute("from")} = ${link.getAttribute("to")})` });
    studio.metadata(entity).then((known) => {
      const filters = children(link, "filter");
      const first = () => addedCondition(append(link, "filter", { type: "and" }));
      inside.append(
        ...(filters.length
          ? filters.map((filter) => group(filter, { ...context, entity, known }))
          : [adder(texts.condition, link, "filter", first, changed)]),
        ...children(link, "link-entity").map((nested) => element("code", { textContent: nested.outerHTML })),
      );
      inside.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
    });
    const box = element("fieldset", { className: "studio-group" }, legend, edits(type, link, "first"), remover(link, texts, changed), inside);
    return element("li", {}, box);
  };

  const addedCondition = (filter) => append(filter, "condition", { attribute: "", operator: "eq", value: "" });

  const group = (filter, context, isRoot = true) => {
    const { texts, changed } = context;
    const box = element("fieldset", { className: "studio-group" });
    const kind = select(texts.group, [["and", texts.all], ["or", texts.any]], filter.getAttribute("type") || "and", (value) => {
      filter.setAttribute("type", value);
      changed();
    });
    const list = element("ul");
    for (const child of [...filter.children]) {
      if (child.tagName === "condition") list.append(conditionRow(child, context));
      else if (child.tagName === "filter") list.append(element("li", {}, group(child, context, false)));
      else if (child.tagName === "link-entity") list.append(existence(child, context));
    }
    const actions = element("div", { className: "studio-condition-actions" });
    actions.append(
      edits(kind, filter, "first"),
      adder(texts.condition, filter, "condition", () => addedCondition(filter), changed),
      adder(texts.group, filter, "filter", () => append(filter, "filter", { type: "or" }), changed),
    );
    if (context.known.links?.length) actions.append(linkAdder(texts.existence, filter, context.known, "any", texts, changed));
    if (!isRoot) actions.append(remover(filter, texts, changed));
    box.append(actions, list);
    return box;
  };

  studio.filters = { element, select, children, append, attributePicker, group, edits, controlOf, remover, adder, addedCondition, linkAdder };
})();
