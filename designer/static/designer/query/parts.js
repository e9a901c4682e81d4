"use strict";

// What a query has beside conditions: columns, their order, linked entities, each with the same parts.
(() => {
  const { children, append, element, select, edits, remover, adder, picker, attributePicker, asWritten, handle, movable, group, addedCondition } = studio.query;

  const isSummary = (node) => node.ownerDocument.documentElement.getAttribute("aggregate") === "true";
  // What a row of the answer calls a column that has no name of its own: in camel case, as `designer.names.output_key`.
  const WORDS = /[^\p{L}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
  const usualName = (column, source) => {
    const alias = source.tagName === "link-entity" ? `${source.getAttribute("alias") || source.getAttribute("name")}.` : "";
    const words = `${alias}${column.getAttribute("name") || ""}`.split(WORDS).filter(Boolean);
    return words.map((word, at) => (at ? word.charAt(0).toUpperCase() : word.charAt(0).toLowerCase()) + word.slice(1).toLowerCase()).join("");
  };
  const setOrRemove = (node, name, value) => {
    if (value) node.setAttribute(name, value);
    else node.removeAttribute(name);
  };

  const functionOf = (column) => (column.getAttribute("groupby") === "true" ? "group" : column.getAttribute("aggregate") || "");
  const setFunction = (column, chosen) => {
    setOrRemove(column, "groupby", chosen === "group" ? "true" : "");
    setOrRemove(column, "aggregate", chosen === "group" ? "" : chosen);
    if (chosen !== "group") column.removeAttribute("dategrouping");
    if (!column.getAttribute("alias")) column.setAttribute("alias", [chosen === "group" ? "" : chosen, column.getAttribute("name")].filter(Boolean).join("_"));
  };

  const columnRow = (column, source, known, context) => {
    const { texts, changed, entity } = context;
    const shown = column.getAttribute("name") || "";
    const name = attributePicker(texts.column, entity, known, shown, (value) => {
      column.setAttribute("name", value);
      if (isSummary(column)) setFunction(column, functionOf(column) || "group");
      changed(column, "first");
    });
    const alias = element("input", { className: "studio-input", ariaLabel: texts.output, placeholder: usualName(column, source), value: column.getAttribute("alias") || "" });
    alias.addEventListener("input", (event) => {
      event.stopPropagation();
      setOrRemove(column, "alias", alias.value.trim());
      changed();
    });
    const cells = [edits(name, column, "first")];
    if (isSummary(column)) {
      const offered = Object.entries(texts.functions);
      cells.push(edits(select(texts.function, [["", "—"], ...offered], functionOf(column), (value) => {
        setFunction(column, value);
        changed(column, "function");
      }), column, "function"));
      if (functionOf(column) === "group" && known.attributes[shown]?.family === "date") {
        cells.push(edits(select(texts.grouped, [["", texts.each], ...Object.entries(texts.dates)], column.getAttribute("dategrouping") || "", (value) => {
          setOrRemove(column, "dategrouping", value);
          changed(column, "grouped");
        }), column, "grouped"));
      }
    }
    return element("li", { className: "studio-condition studio-movable" }, handle(column, context), element("div", { className: "studio-either" }, ...cells), edits(alias, column, "alias"), remover(column, context));
  };

  const columns = (source, known, context) => {
    const { texts, changed } = context;
    const list = element("ul");
    for (const column of children(source, "attribute", "all-attributes")) {
      if (column.tagName === "attribute") list.append(columnRow(column, source, known, context));
      else list.append(element("li", { className: "studio-condition" }, element("span", { textContent: texts.everything }), remover(column, context)));
    }
    movable(list, source, `columns of ${context.place} ${context.id}`, context);
    const add = () => {
      const last = children(source, "attribute").at(-1);
      const made = append(source, "attribute", { name: "" });
      if (last) last.after(made);
      else source.prepend(made);
      return made;
    };
    const head = element("div", { className: "studio-condition studio-head" }, ...["", texts.attribute, texts.output].map((textContent) => element("span", { textContent })));
    head.setAttribute("aria-hidden", "true");
    return element("div", { className: "studio-query-columns" }, ...(list.children.length ? [head] : []), list, adder(texts.column, source, "attribute", add, changed));
  };

  const orders = (source, known, context) => {
    const { texts, changed, entity } = context;
    const list = element("ul");
    for (const order of children(source, "order")) {
      const isDescending = ["true", "1"].includes(order.getAttribute("descending"));
      const descending = select(texts.direction, [["", texts.ascending], ["true", texts.descending]], isDescending ? "true" : "", (value) => {
        setOrRemove(order, "descending", value);
        changed();
      });
      const aliases = [...source.querySelectorAll("attribute[alias]")].map((column) => column.getAttribute("alias"));
      const by = isSummary(order)
        ? select(texts.order, [["", "—"], ...aliases.map((alias) => [alias, alias])], order.getAttribute("alias") || "", (value) => {
            order.removeAttribute("attribute");
            setOrRemove(order, "alias", value);
            changed(order, "first");
          })
        : order.hasAttribute("alias") || order.hasAttribute("entityname")
          ? asWritten(order)
          : attributePicker(texts.order, entity, known, order.getAttribute("attribute") || "", (value) => {
              order.setAttribute("attribute", value);
              changed(order, "first");
            });
      list.append(element("li", { className: "studio-condition studio-movable" }, handle(order, context), edits(by, order, "first"), edits(descending, order, "direction"), remover(order, context)));
    }
    movable(list, source, `orders of ${context.place} ${context.id}`, context);
    return element("div", { className: "studio-query-orders" }, list, adder(texts.order, source, "order", () => append(source, "order", { attribute: "" }), changed));
  };

  const titled = (title, ...content) => element("div", { className: "studio-query-part" }, element("h3", { textContent: title }), ...content);

  // A link that joins nothing gives no columns: those that were written all the same are shown.
  const joins = (node) => !["exists", "in", "any", "not any", "all", "not all"].includes(node.getAttribute("link-type"));

  const link = async (node, context) => {
    const { texts, changed, ask } = context;
    const isAmongConditions = node.parentElement.tagName === "filter";
    const linkTypes = isAmongConditions ? context.existenceTypes : context.linkTypes;
    const entity = node.getAttribute("name");
    const known = await ask(entity);
    const title = [known.label || entity, node.getAttribute("alias")].filter((text, at, all) => text && all.indexOf(text) === at).join(" · ");
    const type = select(texts.linked, linkTypes, node.getAttribute("link-type") || "inner", (value) => {
      node.setAttribute("link-type", value);
      changed(node, "first");
    });
    const inside = await parts(node, entity, context);
    const head = element("div", { className: "studio-condition-actions" }, handle(node, context), edits(type, node, "first"), remover(node, context));
    return element("fieldset", { className: "studio-group studio-link" }, element("legend", { textContent: title }), head, ...inside);
  };

  // A link to be had of an entity's relationships, under an alias that is free.
  const linkAdder = (label, parent, known, type, { entity: own, changed }) => {
    const offered = Object.fromEntries((known.links || []).map((one) => [one.label, one]));
    const choices = Object.fromEntries(Object.keys(offered).map((one) => [one, { label: one, facts: offered[one].entity }]));
    const add = picker(label, `links:${own}`, choices, "", (chosen) => {
      if (!offered[chosen]) return;
      const { entity, from, to } = offered[chosen];
      const used = new Set([...parent.ownerDocument.querySelectorAll("link-entity")].map((one) => one.getAttribute("alias")));
      let alias = entity;
      for (let count = 2; used.has(alias); count += 1) alias = `${entity}${count}`;
      changed(append(parent, "link-entity", { name: entity, from, to, "link-type": type, alias }), "first");
    });
    add.dataset.placeholder = `+ ${label}`;
    return edits(add, parent, "add link-entity");
  };

  const links = async (source, known, context) => {
    const list = element("ul");
    for (const one of children(source, "link-entity")) list.append(element("li", { className: "studio-movable" }, await link(one, context)));
    movable(list, source, `links of ${context.place} ${context.id}`, context);
    return element("div", {}, list, linkAdder(context.texts.link, source, known, "outer", context));
  };

  const parts = async (source, entity, { place = "", ...given }) => {
    const context = { ...given, entity, place: `${place}/${[...source.parentElement.children].indexOf(source)}` };
    const { texts, changed, ask } = context;
    const known = await ask(entity);
    context.link = (node) => link(node, context);
    context.existence = (filter) => linkAdder(texts.existence, filter, known, "any", context);
    const filters = children(source, "filter");
    const first = () => addedCondition(append(source, "filter", { type: "and" }));
    const conditions = filters.length
      ? await Promise.all(filters.map((filter) => group(filter, context)))
      : [adder(texts.condition, source, "filter", first, changed)];
    const made = joins(source) || children(source, "attribute").length ? [titled(texts.columns, columns(source, known, context))] : [];
    made.push(titled(texts.filter, ...conditions));
    if (source.tagName === "entity") made.push(titled(texts.orders, orders(source, known, context)));
    made.push(titled(texts.links, await links(source, known, context)));
    return made;
  };

  Object.assign(studio.query, { parts, titled, link, linkAdder });
})();
