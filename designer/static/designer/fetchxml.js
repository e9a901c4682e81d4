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

  const columns = (source, entity, known, texts, changed) => {
    const { children, append, button, attributePicker, element } = studio.filters;
    const box = element("div", { className: "studio-query-columns" });
    for (const column of children(source, "attribute")) {
      const alias = element("input", { className: "studio-input", ariaLabel: texts.alias, placeholder: texts.alias, value: column.getAttribute("alias") || "" });
      alias.addEventListener("input", (event) => {
        event.stopPropagation();
        if (alias.value) column.setAttribute("alias", alias.value);
        else column.removeAttribute("alias");
        changed(false);
      });
      const remove = button("✕", () => { column.remove(); changed(true); }, "studio-tool studio-remove");
      remove.ariaLabel = texts.remove;
      const name = attributePicker(texts.column, entity, known, column.getAttribute("name") || "", (value) => {
        column.setAttribute("name", value);
        changed(true);
      });
      const facts = ["aggregate", "groupby", "dategrouping"].filter((key) => column.hasAttribute(key));
      const more = element("small", { textContent: facts.map((key) => `${key}: ${column.getAttribute(key)}`).join(", ") });
      box.append(element("div", { className: "studio-condition" }, name, alias, more, remove));
    }
    box.append(button(`+ ${texts.column}`, () => {
      const made = append(source, "attribute", { name: "" });
      const last = children(source, "attribute").at(-2);
      if (last) last.after(made);
      else source.prepend(made);
      changed(true);
    }));
    return box;
  };

  const orders = (source, entity, known, texts, changed) => {
    const { children, append, button, attributePicker, element, select } = studio.filters;
    const box = element("div", { className: "studio-query-orders" });
    for (const order of children(source, "order")) {
      const descending = select(texts.direction, [["", texts.ascending], ["true", texts.descending]], order.getAttribute("descending") === "true" ? "true" : "", (value) => {
        if (value) order.setAttribute("descending", value);
        else order.removeAttribute("descending");
        changed(false);
      });
      const by = order.hasAttribute("alias")
        ? element("code", { textContent: order.getAttribute("alias") })
        : attributePicker(texts.order, entity, known, order.getAttribute("attribute") || "", (value) => {
            order.setAttribute("attribute", value);
            changed(true);
          });
      const remove = button("✕", () => { order.remove(); changed(true); }, "studio-tool studio-remove");
      remove.ariaLabel = texts.remove;
      box.append(element("div", { className: "studio-condition" }, by, descending, remove));
    }
    box.append(button(`+ ${texts.order}`, () => { append(source, "order", { attribute: "" }); changed(true); }));
    return box;
  };

  const titled = (title, ...content) => {
    const { element } = studio.filters;
    return element("div", { className: "studio-query-part" }, element("h3", { textContent: title }), ...content);
  };

  const linkName = (link) => `${link.getAttribute("name")} ${link.getAttribute("alias") || ""}`.trim();

  const links = async (source, known, context) => {
    const { children, append, button, select, element } = studio.filters;
    const { texts, changed } = context;
    const box = element("div");
    for (const link of children(source, "link-entity")) {
      const outer = select(texts.linked, [["inner", texts.inner], ["outer", texts.outer]], link.getAttribute("link-type") || "inner", (value) => {
        link.setAttribute("link-type", value);
        changed(false);
      });
      const remove = button(texts.remove, () => { link.remove(); changed(true); });
      const inside = await parts(link, link.getAttribute("name"), context);
      box.append(element("fieldset", { className: "studio-group" }, element("legend", { textContent: linkName(link) }), outer, remove, ...inside));
    }
    const offered = (known.links || []).map((link, at) => [String(at), link.label]);
    box.append(select(texts.link, [["", `+ ${texts.link}`], ...offered], "", (at) => {
      const { entity, from, to } = known.links[Number(at)];
      const used = new Set([...source.ownerDocument.querySelectorAll("link-entity")].map((link) => link.getAttribute("alias")));
      let alias = entity;
      for (let count = 2; used.has(alias); count += 1) alias = `${entity}${count}`;
      append(source, "link-entity", { name: entity, from, to, "link-type": "outer", alias });
      changed(true);
    }));
    return box;
  };

  const parts = async (source, entity, context) => {
    const { children, append, button, group } = studio.filters;
    const { texts, changed, operators } = context;
    const known = await ask(entity);
    const filters = children(source, "filter");
    const conditions = filters.length
      ? filters.map((filter) => group(filter, { entity, known, operators, texts, changed }))
      : [button(`+ ${texts.condition}`, () => {
          append(append(source, "filter", { type: "and" }), "condition", { attribute: "", operator: "eq", value: "" });
          changed(true);
        })];
    const made = [titled(texts.columns, columns(source, entity, known, texts, changed)), titled(texts.filter, ...conditions)];
    if (source.tagName === "entity") made.push(titled(texts.orders, orders(source, entity, known, texts, changed)));
    made.push(titled(texts.links, await links(source, known, context)));
    return made;
  };

  const enhance = async (area) => {
    if (area.dataset.enhanced || area.name.includes("__prefix__")) return;
    area.dataset.enhanced = "yes";
    const { element, select, group } = studio.filters;
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

    const changed = (again) => {
      area.value = pretty(root);
      area.dispatchEvent(new Event("input", { bubbles: true }));
      if (again) draw();
    };
    const draw = async () => {
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
          changed(true);
        });
        chosen.id = `${area.id}_entity`;
        chosen.dataset.picker = "entities";
        content.push(titled(texts.entity, chosen));
        if (entity && name) content.push(...(await parts(entity, name, { texts, changed, operators: general.operators })));
      }
      box.replaceChildren(...content);
      box.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
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
