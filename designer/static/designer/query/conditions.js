"use strict";

// Conditions of an entity or link as rows, in groups of which all hold, or any.
(() => {
  const { LISTS, PAIRS, append, valuesOf, setValues, sourceOf, meantBy } = studio.query;
  const { element, select, edits, remover, adder, attributePicker, note, asWritten, valueEditor, handle, movable } = studio.query;

  // Those of the attribute's type; of an attribute that is not known, all.
  const offeredFor = (attribute, { known, offered }) =>
    attribute ? offered[attribute.family] : Object.entries(known).map(([name, one]) => ({ name, ...one }));
  const grouped = (operators, texts) => {
    const plain = operators.filter((one) => !one.is_relative).map((one) => [one.name, one.label]);
    const relative = operators.filter((one) => one.is_relative).map((one) => [one.name, one.label]);
    return relative.length ? [[texts.compared, plain], [texts.relative, relative]] : plain;
  };

  // Another attribute may be of a type that has no such operator or value: then the type's first one stands there.
  const suited = (condition, attribute, operators, before) => {
    const offered = offeredFor(attribute, operators);
    const present = condition.getAttribute("operator");
    const fits = offered.some(({ name }) => name === present);
    if (!fits) condition.setAttribute("operator", offered[0]?.name || "eq");
    const isReference = valuesOf(condition).some((text) => text.startsWith("@"));
    if (!fits || (before && !isReference)) setValues(condition, condition.getAttribute("operator"), []);
  };

  // What came with a pasted query and is not supported stands there as it is, until another is chosen.
  const unsupported = (condition, texts) => {
    const values = valuesOf(condition).join(", ");
    return [...(values ? [element("code", { textContent: values })] : []), note(texts.unsupported)];
  };

  const row = async (condition, context) => {
    const { operators, texts, changed, ask } = context;
    const source = meantBy(condition);
    const entity = source ? source.getAttribute("name") : context.entity;
    const known = entity ? await ask(entity) : { attributes: {} };
    const name = condition.getAttribute("attribute") || "";
    const given = condition.getAttribute("operator") || "";
    const attribute = attributePicker(texts.attribute, entity, known, name, (value) => {
      condition.setAttribute("attribute", value);
      if (value !== name) suited(condition, known.attributes[value], operators, name);
      changed(condition, "first");
    });
    const values = element("span", { className: "studio-either" });
    const taken = (operator) => operators.known[operator]?.values;
    // The list itself stays: whoever types the name of an operator has chosen others by its first letters.
    const chosen = select(texts.operator, grouped(offeredFor(known.attributes[name], operators), texts), given, (value) => {
      const present = valuesOf(condition);
      const before = condition.getAttribute("operator");
      condition.setAttribute("operator", value);
      const isAlike = [LISTS, PAIRS].every((kind) => kind.includes(before) === kind.includes(value));
      setValues(condition, value, taken(value) === 0 || (!isAlike && present.length > 1) ? [] : present);
      changed();
      show(value);
    });
    const shown = known.attributes[name];
    if (shown) shown.name = name;
    const show = (operator) => {
      ["aria-invalid", "aria-describedby"].forEach((mark) => chosen.removeAttribute(mark));
      if (condition.hasAttribute("valueof")) return values.replaceChildren(element("code", { textContent: condition.getAttribute("valueof") }));
      if (operators.known[operator]) return values.replaceChildren(...valueEditor(condition, shown, taken(operator), context));
      const marked = unsupported(condition, texts);
      values.replaceChildren(...marked);
      chosen.setAttribute("aria-invalid", "true");
      return chosen.setAttribute("aria-describedby", marked.at(-1).id);
    };
    show(given);
    const of = source && source !== sourceOf(condition) ? [element("small", { className: "studio-of", textContent: condition.getAttribute("entityname") })] : [];
    const first = element("div", {}, ...of, edits(attribute, condition, "first"));
    return [first, edits(chosen, condition, "operator"), values];
  };

  const added = (filter) => append(filter, "condition", { attribute: "", operator: "eq" });

  const group = async (filter, context, isRoot = true) => {
    const { texts, changed } = context;
    const box = element("fieldset", { className: "studio-group" });
    const kind = select(texts.group, [["and", texts.all], ["or", texts.any]], filter.getAttribute("type") || "and", (value) => {
      filter.setAttribute("type", value);
      changed();
    });
    const list = element("ul");
    for (const child of filter.children) {
      const tools = [handle(child, context)];
      if (child.tagName === "condition") {
        list.append(element("li", { className: "studio-condition studio-movable" }, ...tools, ...(await row(child, context)), remover(child, context)));
      } else if (child.tagName === "filter") {
        list.append(element("li", { className: "studio-movable studio-nested" }, ...tools, await group(child, context, false)));
      } else if (child.tagName === "link-entity" && context.link) {
        list.append(element("li", { className: "studio-nested" }, await context.link(child)));
      } else list.append(element("li", { className: "studio-condition" }, asWritten(child), note(texts.unsupported_part), remover(child, context)));
    }
    const kindOfList = `conditions of ${[...filter.ownerDocument.querySelectorAll("entity, link-entity")].indexOf(sourceOf(filter))} ${context.id}`;
    movable(list, filter, kindOfList, context);
    const actions = element("div", { className: "studio-condition-actions" });
    actions.append(
      edits(kind, filter, "first"),
      adder(texts.condition, filter, "condition", () => added(filter), changed),
      // A group of the same kind would say nothing that its conditions do not say without it.
      adder(texts.group, filter, "filter", () => append(filter, "filter", { type: filter.getAttribute("type") === "or" ? "and" : "or" }), changed),
    );
    if (context.existence) actions.append(context.existence(filter));
    if (!isRoot) actions.append(remover(filter, context));
    box.append(actions, list);
    return box;
  };

  Object.assign(studio.query, { group, addedCondition: added });
})();
