"use strict";

// A query or filter as an XML document that is changed in place, so that whatever the rows do not show is kept.
window.studio = window.studio || {};

(() => {
  const ROOTS = { query: "fetch", filter: "filter" };
  const EMPTY = { query: '<fetch><entity name=""/></fetch>', filter: '<filter type="and"/>' };
  const LISTS = ["in", "not-in", "contain-values", "not-contain-values"];
  const PAIRS = ["between", "not-between"];

  // Readers of XML make blanks of the tabs and line breaks in an attribute that are written as they are.
  const escape = (text) =>
    text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;")
      .replace(/[\t\r\n]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const attributesOf = (node) => [...node.attributes].map(({ name, value }) => ` ${name}="${escape(value)}"`).join("");

  // The root element; null for a text that is none. A text that begins at its entity stands for the whole.
  const parse = (text, of) => {
    const given = text.trim().replace(/^<\?xml[^>]*\?>\s*/, "");
    const whole = of === "query" && given.startsWith("<entity") ? `<fetch>${given}</fetch>` : given;
    const parsed = new DOMParser().parseFromString(whole || EMPTY[of], "text/xml");
    return parsed.querySelector("parsererror") || parsed.documentElement.tagName !== ROOTS[of] ? null : parsed.documentElement;
  };

  const children = (node, ...names) => [...node.children].filter((child) => names.includes(child.tagName));
  const append = (parent, name, attributes = {}) => {
    const made = parent.ownerDocument.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };

  const valuesOf = (condition) => {
    const own = condition.getAttribute("value");
    return own === null ? children(condition, "value").map((value) => value.textContent) : [own];
  };
  const setValues = (condition, operator, texts, labels = {}) => {
    children(condition, "value").forEach((value) => value.remove());
    ["value", "uiname", "uitype"].forEach((name) => condition.removeAttribute(name));
    if ([...LISTS, ...PAIRS].includes(operator)) {
      for (const text of texts) {
        const value = append(condition, "value", labels[text] ? { uiname: labels[text] } : {});
        value.textContent = text;
      }
    } else if (texts.length) {
      condition.setAttribute("value", texts[0]);
      if (labels[texts[0]]) condition.setAttribute("uiname", labels[texts[0]]);
    }
  };
  // What Advanced Find has noted beside ids: the names of their records.
  const labelsOf = (condition) => {
    const noted = [[condition.getAttribute("value"), condition], ...children(condition, "value").map((value) => [value.textContent, value])];
    return Object.fromEntries(noted.map(([text, node]) => [text, node.getAttribute("uiname")]).filter(([, label]) => label));
  };

  // What a row still lacks: "attribute", "operator", "value"; "" for nothing. `taken` values are taken by an operator,
  // undefined for an operator that is not known, of which nothing is asked.
  const lacks = (node, taken) => {
    if (node.tagName === "attribute") return node.getAttribute("name") ? "" : "attribute";
    if (node.tagName === "order") return node.getAttribute("attribute") || node.getAttribute("alias") ? "" : "attribute";
    if (node.tagName !== "condition") return "";
    if (!node.getAttribute("attribute")) return "attribute";
    const operator = node.getAttribute("operator");
    if (!operator) return "operator";
    if (node.hasAttribute("valueof") || taken(operator) === undefined || taken(operator) === 0) return "";
    const given = valuesOf(node).filter((text) => text || !PAIRS.includes(operator));
    return given.length >= (taken(operator) ?? 1) ? "" : "value";
  };

  // The text, without rows that still lack something: these are nobody's query yet.
  const written = (root, taken) => {
    const node = (one, indent) => {
      if (lacks(one, taken)) return "";
      const kept = [...one.children].map((child) => node(child, `${indent}  `)).join("");
      if (kept) return `${indent}<${one.tagName}${attributesOf(one)}>\n${kept}${indent}</${one.tagName}>\n`;
      // Of values, blanks at either end are a part.
      const own = one.tagName === "value" ? one.textContent : one.textContent.trim();
      const text = one.children.length ? "" : own;
      return text
        ? `${indent}<${one.tagName}${attributesOf(one)}>${escape(text)}</${one.tagName}>\n`
        : `${indent}<${one.tagName}${attributesOf(one)}/>\n`;
    };
    const isBegun = root.tagName === "filter" ? root.children.length : root.querySelector(":scope > entity")?.getAttribute("name");
    return isBegun ? node(root, "") : "";
  };

  // The entity or link that a condition means: its own, or the one whose alias it names.
  const sourceOf = (node) => node.closest("link-entity, entity");
  const meantBy = (condition) => {
    const alias = condition.getAttribute("entityname");
    if (!alias) return sourceOf(condition);
    const links = [...condition.ownerDocument.querySelectorAll("link-entity")];
    return links.find((link) => link.getAttribute("alias") === alias || link.getAttribute("name") === alias) || condition.ownerDocument.querySelector("entity");
  };

  const CONDITIONS = ["condition", "filter"];
  const kindOf = (node) => (CONDITIONS.includes(node.tagName) ? CONDITIONS : [node.tagName]);
  // One place up (-1) or down (1): over a neighbour, into a group beside it, or out of its own. Whether it moved.
  const move = (node, by) => {
    const alike = children(node.parentElement, ...kindOf(node));
    const other = alike[alike.indexOf(node) + by];
    if (other?.tagName === "filter" && node.tagName === "condition") {
      if (by > 0) other.prepend(node);
      else other.append(node);
    } else if (other) {
      if (by > 0) other.after(node);
      else other.before(node);
    } else if (node.parentElement.tagName === "filter" && node.parentElement.parentElement?.tagName === "filter") {
      if (by > 0) node.parentElement.after(node);
      else node.parentElement.before(node);
    } else return false;
    return true;
  };

  studio.query = { LISTS, PAIRS, parse, written, lacks, children, append, valuesOf, setValues, labelsOf, sourceOf, meantBy, move };
})();
