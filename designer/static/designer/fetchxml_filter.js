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

  const dateOrReference = (texts, present, give) => {
    const input = element("input", { type: "date", className: "studio-input", ariaLabel: texts.value, value: present });
    input.addEventListener("input", (event) => {
      event.stopPropagation();
      give([input.value]);
    });
    return element("span", { className: "studio-either" }, input, button("@…", () => give(["@"])));
  };

  const valueEditor = (condition, attribute, taken, texts, changed) => {
    const operator = condition.getAttribute("operator");
    if (taken === 0) return element("span");
    const present = valuesOf(condition);
    const isList = LISTS.includes(operator);
    const isReference = present.some((text) => text.startsWith("@"));
    const choices = attribute?.options?.length
      ? attribute.options.map(([value, label]) => [value, `${label} (${value})`])
      : attribute?.editor === "boolean" ? [["1", texts.yes], ["0", texts.no]] : null;
    const give = (values) => {
      setValues(condition, operator, values);
      changed(values.includes("@"));
    };
    if (choices && !isReference) {
      const offered = [["@", "@…"], ...choices];
      return isList && operator !== "between" && operator !== "not-between"
        ? severalOf(texts.value, offered, present, give)
        : select(texts.value, [["", "—"], ...offered], present[0] || "", (value) => give([value]));
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
      changed(false);
    });
    return input;
  };

  const conditionRow = (condition, context) => {
    const { entity, known, operators, texts, changed } = context;
    const name = condition.getAttribute("attribute") || "";
    const operator = operators.find((one) => one.name === condition.getAttribute("operator"));
    const set = (key) => (value) => {
      condition.setAttribute(key, value);
      if (key === "operator") {
        const taken = operators.find((one) => one.name === value)?.values;
        setValues(condition, value, taken === 0 ? [] : valuesOf(condition));
      }
      changed(true);
    };
    const row = element("li", { className: "studio-condition" });
    if (condition.hasAttribute("entityname") || condition.hasAttribute("valueof")) {
      row.append(element("code", { textContent: condition.outerHTML.replace(/ xmlns="[^"]*"/g, "") }));
    } else {
      row.append(
        attributePicker(texts.attribute, entity, known, name, set("attribute")),
        select(texts.operator, operators.map((one) => [one.name, one.label]), operator?.name || "eq", set("operator")),
        valueEditor(condition, known.attributes[name], operator ? operator.values : 1, texts, changed),
      );
    }
    const remove = button("✕", () => {
      condition.remove();
      changed(true);
    }, "studio-tool studio-remove");
    remove.ariaLabel = texts.remove;
    row.append(remove);
    return row;
  };

  const group = (filter, context, isRoot = true) => {
    const { texts, changed } = context;
    const box = element("fieldset", { className: "studio-group" });
    const kind = select(texts.group, [["and", texts.all], ["or", texts.any]], filter.getAttribute("type") || "and", (value) => {
      filter.setAttribute("type", value);
      changed(false);
    });
    const list = element("ul");
    for (const child of [...filter.children]) {
      if (child.tagName === "condition") list.append(conditionRow(child, context));
      else if (child.tagName === "filter") list.append(element("li", {}, group(child, context, false)));
    }
    const actions = element("div", { className: "studio-condition-actions" });
    actions.append(
      kind,
      button(`+ ${texts.condition}`, () => {
        append(filter, "condition", { attribute: "", operator: "eq", value: "" });
        changed(true);
      }),
      button(`+ ${texts.group}`, () => {
        append(filter, "filter", { type: "or" });
        changed(true);
      }),
    );
    if (!isRoot) {
      actions.append(button(texts.remove, () => {
        filter.remove();
        changed(true);
      }));
    }
    box.append(actions, list);
    return box;
  };

  studio.filters = { element, button, select, children, append, attributePicker, group };
})();
