"use strict";

// The controls that rows of a query are made of, and what each of them edits.
(() => {
  const { children } = studio.query;

  const element = (name, attributes = {}, ...content) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key in made && key !== "list") made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...content);
    return made;
  };
  const button = (text, act, name = "studio-button studio-button-small") => {
    const made = element("button", { type: "button", className: name, textContent: text });
    made.addEventListener("click", act);
    return made;
  };
  // A choice is [value, text], or [label, choices] of a group. What is present is kept among them.
  const select = (label, choices, value, act) => {
    const made = element("select", { className: "studio-input", ariaLabel: label });
    for (const [key, of] of choices) {
      if (Array.isArray(of)) made.append(element("optgroup", { label: key }, ...of.map(([one, text]) => new Option(text, one))));
      else made.append(new Option(of, key));
    }
    if (value && ![...made.options].some((option) => option.value === value)) made.append(new Option(value, value));
    made.value = value;
    made.addEventListener("change", (event) => {
      event.stopPropagation();
      act(made.value);
    });
    return made;
  };

  // What a control edits: its node, and which part of that. After a change all rows are drawn anew, and whoever
  // works by keyboard goes on where they were, or where what they added begins.
  const edited = new WeakMap();
  const edits = (control, node, part) => {
    edited.set(control, { node, part });
    return control;
  };
  const editedBy = (control) => edited.get(control);
  const controlOf = (box, node, part) =>
    [...box.querySelectorAll("button, input, select, textarea")].find((control) => {
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
  const remover = (node, { texts, changed }) => {
    const made = button("✕", () => {
      const [to, part] = nextTo(node);
      node.remove();
      changed(to, part);
    }, "studio-tool studio-remove");
    made.ariaLabel = texts.remove;
    made.title = texts.remove;
    return edits(made, node, "remove");
  };
  const adder = (text, parent, name, make, changed) =>
    edits(button(`+ ${text}`, () => changed(make(), "first")), parent, `add ${name}`);

  // The page's picker: it is searched by typing, and nothing is chosen before Enter. `known` has label and facts by value.
  const picker = (label, source, known, value, act) => {
    studio.data()[source] = known;
    const made = select(label, [["", ""]], value, act);
    made.id = `picker-${Math.random().toString(36).slice(2)}`;
    made.dataset.picker = source;
    return made;
  };
  const attributePicker = (label, entity, known, value, act) => picker(label, `entity:${entity}`, known.attributes, value, act);

  const note = (text) => element("small", { className: "studio-unsupported", textContent: text, id: `note-${Math.random().toString(36).slice(2)}` });
  const asWritten = (node) => element("code", { textContent: node.outerHTML.replace(/ xmlns="[^"]*"/g, "") });

  Object.assign(studio.query, { element, button, select, edits, editedBy, controlOf, remover, adder, picker, attributePicker, note, asWritten });
})();
