"use strict";

// FetchXML in a text area, and the same as rows: either side follows the other. What is sent is the text.
(() => {
  const asked = new Map();
  const ask = (entity) => {
    if (!asked.has(entity)) {
      const url = `${document.body.querySelector("[data-metadata-url]").dataset.metadataUrl}?entity=${encodeURIComponent(entity)}`;
      asked.set(entity, fetch(url).then((answer) => (answer.ok ? answer.json() : { attributes: {}, links: [] })));
    }
    return asked.get(entity);
  };
  studio.metadata = ask;
  document.addEventListener("metadata:refreshed", () => asked.clear());

  const pretty = (node, indent = "") => {
    const attributes = [...node.attributes].map(({ name, value }) => ` ${name}="${escape(value)}"`).join("");
    if (node.children.length) {
      const inner = [...node.children].map((child) => pretty(child, `${indent}  `)).join("");
      return `${indent}<${node.tagName}${attributes}>\n${inner}${indent}</${node.tagName}>\n`;
    }
    const text = node.textContent.trim();
    return text
      ? `${indent}<${node.tagName}${attributes}>${escape(text)}</${node.tagName}>\n`
      : `${indent}<${node.tagName}${attributes}/>\n`;
  };
  const escape = (text) =>
    text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

  const parse = (text, of) => {
    const empty = of === "query" ? '<fetch><entity name=""/></fetch>' : '<filter type="and"/>';
    const parsed = new DOMParser().parseFromString(text.trim() || empty, "text/xml");
    return parsed.querySelector("parsererror") || parsed.documentElement.tagName !== (of === "query" ? "fetch" : "filter")
      ? null
      : parsed.documentElement;
  };

  // Where a node stands: rows are made of the text, and so of other nodes each time.
  const pathOf = (node) => (node.parentElement ? [...pathOf(node.parentElement), [...node.parentElement.children].indexOf(node)] : []);
  const at = (root, path) => path.reduce((node, place) => node?.children[place], root);

  const columns = (source, entity, known, texts, changed) => {
    const { children, append, edits, remover, adder, attributePicker, element } = studio.filters;
    const box = element("div", { className: "studio-query-columns" });
    for (const column of children(source, "attribute")) {
      const alias = element("input", { className: "studio-input", ariaLabel: texts.alias, placeholder: texts.alias, value: column.getAttribute("alias") || "" });
      alias.addEventListener("input", (event) => {
        event.stopPropagation();
        if (alias.value) column.setAttribute("alias", alias.value);
        else column.removeAttribute("alias");
        changed();
      });
      const name = attributePicker(texts.column, entity, known, column.getAttribute("name") || "", (value) => {
        column.setAttribute("name", value);
        changed(column, "first");
      });
      const facts = ["aggregate", "groupby", "dategrouping"].filter((key) => column.hasAttribute(key));
      const more = element("small", { textContent: facts.map((key) => `${key}: ${column.getAttribute(key)}`).join(", ") });
      const remove = remover(column, texts, changed, "studio-tool studio-remove");
      box.append(element("div", { className: "studio-condition" }, edits(name, column, "first"), alias, more, remove));
    }
    const add = () => {
      const made = append(source, "attribute", { name: "" });
      const last = children(source, "attribute").at(-2);
      if (last) last.after(made);
      else source.prepend(made);
      return made;
    };
    box.append(adder(texts.column, source, "attribute", add, changed));
    return box;
  };

  const orders = (source, entity, known, texts, changed) => {
    const { children, append, edits, remover, adder, attributePicker, element, select } = studio.filters;
    const box = element("div", { className: "studio-query-orders" });
    for (const order of children(source, "order")) {
      const isDescending = ["true", "1"].includes(order.getAttribute("descending"));
      const descending = select(texts.direction, [["", texts.ascending], ["true", texts.descending]], isDescending ? "true" : "", (value) => {
        if (value) order.setAttribute("descending", value);
        else order.removeAttribute("descending");
        changed();
      });
      const by = order.hasAttribute("alias")
        ? element("code", { textContent: order.getAttribute("alias") })
        : edits(attributePicker(texts.order, entity, known, order.getAttribute("attribute") || "", (value) => {
            order.setAttribute("attribute", value);
            changed(order, "first");
          }), order, "first");
      const remove = remover(order, texts, changed, "studio-tool studio-remove");
      box.append(element("div", { className: "studio-condition" }, by, descending, remove));
    }
    box.append(adder(texts.order, source, "order", () => append(source, "order", { attribute: "" }), changed));
    return box;
  };

  const titled = (title, ...content) => {
    const { element } = studio.filters;
    return element("div", { className: "studio-query-part" }, element("h3", { textContent: title }), ...content);
  };

  const linkName = (link) => `${link.getAttribute("name")} ${link.getAttribute("alias") || ""}`.trim();

  const links = async (source, known, context) => {
    const { children, append, edits, remover, select, element } = studio.filters;
    const { texts, changed } = context;
    const box = element("div");
    for (const link of children(source, "link-entity")) {
      const types = [["inner", texts.inner], ["outer", texts.outer], ["matchfirstrowusingcrossapply", texts.first], ["exists", texts.exists], ["in", texts.exists_in]];
      const type = select(texts.linked, types, link.getAttribute("link-type") || "inner", (value) => {
        link.setAttribute("link-type", value);
        changed(link, "first");
      });
      const inside = await parts(link, link.getAttribute("name"), context);
      const legend = element("legend", { textContent: linkName(link) });
      box.append(element("fieldset", { className: "studio-group" }, legend, edits(type, link, "first"), remover(link, texts, changed), ...inside));
    }
    box.append(studio.filters.linkAdder(texts.link, source, known, "outer", texts, changed));
    return box;
  };

  const parts = async (source, entity, context) => {
    const { children, append, adder, addedCondition, group } = studio.filters;
    const { texts, changed, operators } = context;
    const known = await ask(entity);
    const filters = children(source, "filter");
    const first = () => addedCondition(append(source, "filter", { type: "and" }));
    const conditions = filters.length
      ? filters.map((filter) => group(filter, { entity, known, operators, texts, changed }))
      : [adder(texts.condition, source, "filter", first, changed)];
    // Links that join nothing give no columns. Those that were written all the same are shown: readiness names them.
    const shows = !["exists", "in"].includes(source.getAttribute("link-type")) || children(source, "attribute").length;
    const made = shows ? [titled(texts.columns, columns(source, entity, known, texts, changed))] : [];
    made.push(titled(texts.filter, ...conditions));
    if (source.tagName === "entity") made.push(titled(texts.orders, orders(source, entity, known, texts, changed)));
    made.push(titled(texts.links, await links(source, known, context)));
    return made;
  };

  const enhance = async (area) => {
    if (area.dataset.enhanced || area.name.includes("__prefix__")) return;
    area.dataset.enhanced = "yes";
    const { element, select, group, edits, controlOf } = studio.filters;
    const of = area.dataset.fetchxml;
    const general = await ask("");
    if (!general.operators) return;
    const texts = general.texts;
    const box = element("div", { className: "studio-fetchxml" });
    const details = element("details", {}, element("summary", { textContent: "FetchXML" }));
    const words = element("p", { className: "studio-words" });
    words.dataset.words = area.name;
    words.setAttribute("aria-live", "polite");
    area.before(words, box, details);
    details.append(area);
    let root = null;

    // Writes the XML as it stands; with a node, draws its rows anew and goes on at that part of it.
    const changed = (node = null, part = "") => {
      area.value = pretty(root);
      area.dispatchEvent(new Event("input", { bubbles: true }));
      if (node) draw({ path: pathOf(node), part });
    };
    let drawn = 0;
    const draw = async (then = null) => {
      drawn += 1;
      const turn = drawn;
      root = parse(area.value, of);
      if (!root) {
        box.replaceChildren(element("p", { className: "studio-errors", textContent: texts.unreadable }));
        details.open = true;
        return;
      }
      const content = [];
      if (of === "filter") {
        const entity = area.dataset.entity;
        const known = entity ? await ask(entity) : { attributes: {} };
        content.push(group(root, { entity, known, operators: general.operators, texts, changed }));
      } else {
        const entity = root.querySelector("entity");
        const name = entity?.getAttribute("name") || "";
        studio.data()["entities"] = general.entities;
        const chosen = select(texts.entity, [["", ""]], name, (value) => {
          entity.setAttribute("name", value);
          changed(entity, "entity");
        });
        edits(chosen, entity, "entity");
        chosen.id = `${area.id}_entity`;
        chosen.dataset.picker = "entities";
        content.push(titled(texts.entity, chosen));
        if (entity && name) content.push(...(await parts(entity, name, { texts, changed, operators: general.operators })));
      }
      // What was asked for the rows of an older text may be answered last.
      if (turn !== drawn) return;
      box.replaceChildren(...content);
      box.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
      const control = then && controlOf(box, at(root, then.path), then.part);
      // Whoever has gone on to another part of the page in the meantime stays there.
      if (control && document.activeElement === document.body) (document.getElementById(`${control.id}_search`) || control).focus();
    };
    let typing = null;
    area.addEventListener("input", (event) => {
      if (!event.isTrusted) return;
      clearTimeout(typing);
      typing = setTimeout(draw, 500);
    });
    await draw();
  };

  const enhanceIn = (node) => node.querySelectorAll("textarea[data-fetchxml]").forEach(enhance);
  document.addEventListener("DOMContentLoaded", () => enhanceIn(document));
  document.addEventListener("row:added", (event) => enhanceIn(event.target));
})();
