// Elements of the page, made without HTML text: what the API answers is never read as markup.

// make("p", {class: "soft"}, "words", another): attributes, listeners as `onclick`, children; null is left out.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Elements that articles may hold. Everything else becomes its text; attributes do not come along.
const ALLOWED = new Set(["P", "H2", "H3", "UL", "OL", "LI", "STRONG", "EM", "B", "I", "CODE", "PRE", "BR"]);
const DROPPED = new Set(["SCRIPT", "STYLE", "TEMPLATE", "IFRAME", "OBJECT", "SVG", "MATH"]);

// The nodes of an article's HTML, copied element by element. DOMParser runs no scripts and loads no images.
export function article(html) {
  const parsed = new DOMParser().parseFromString(html ?? "", "text/html");
  return [...parsed.body.childNodes].flatMap(copied);
}

function copied(node) {
  if (node.nodeType === Node.TEXT_NODE) return [node.textContent];
  if (node.nodeType !== Node.ELEMENT_NODE || DROPPED.has(node.tagName.toUpperCase())) return [];
  const children = [...node.childNodes].flatMap(copied);
  return ALLOWED.has(node.tagName) ? [make(node.tagName.toLowerCase(), {}, ...children)] : children;
}

// Put `children` in the place of what `place` shows.
export function show(place, ...children) {
  place.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  place.removeAttribute("aria-busy");
}

export function loading(place, words) {
  place.setAttribute("aria-busy", "true");
  place.replaceChildren(make("p", { class: "loading", role: "status" }, words));
}
