"use strict";

// The command palette: Ctrl-K (⌘K) anywhere in the studio, then type, arrows, Enter.
class Palette {
  constructor(address, words) {
    this.address = address;
    this.dialog = document.createElement("dialog");
    this.dialog.className = "studio-palette";
    this.dialog.setAttribute("aria-label", words.title);
    this.input = document.createElement("input");
    Object.assign(this.input, { type: "search", placeholder: words.title, ariaLabel: words.title, autocomplete: "off" });
    this.input.setAttribute("role", "combobox");
    this.input.setAttribute("aria-expanded", "true");
    this.input.setAttribute("aria-controls", "studio-palette-list");
    this.list = document.createElement("ul");
    this.list.id = "studio-palette-list";
    this.list.setAttribute("role", "listbox");
    this.none = words.none;
    this.dialog.append(this.input, this.list);
    document.body.append(this.dialog);
    this.asked = 0;
    this.chosen = 0;
    this.input.addEventListener("input", () => this.soon());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
  }

  open() {
    if (this.dialog.open) return;
    this.input.value = "";
    this.dialog.showModal();
    this.input.focus();
    this.find();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.find(), 120);
  }

  async find() {
    const turn = ++this.asked;
    try {
      const { entries } = await (await studio.ask(`${this.address}?q=${encodeURIComponent(this.input.value)}`)).json();
      // A slow answer to what was typed before says nothing of what is typed now.
      if (turn === this.asked) this.show(entries, this.none);
    } catch (error) {
      if (turn === this.asked) this.show([], `✖ ${error.message}`);
    }
  }

  show(entries, none) {
    this.list.replaceChildren(...entries.map((entry, at) => this.item(entry, at)));
    if (entries.length === 0) this.list.append(Object.assign(document.createElement("li"), { textContent: none }));
    this.choose(0);
  }

  item(entry, at) {
    const item = document.createElement("li");
    item.setAttribute("role", "none");
    const link = Object.assign(document.createElement("a"), { id: `studio-palette-${at}`, href: entry.link, tabIndex: -1 });
    link.setAttribute("role", "option");
    link.append(
      Object.assign(document.createElement("span"), { textContent: entry.title }),
      Object.assign(document.createElement("small"), { textContent: entry.detail }),
    );
    item.append(link);
    return item;
  }

  choose(at) {
    const items = this.list.querySelectorAll("[role=option]");
    if (items.length === 0) return this.input.removeAttribute("aria-activedescendant");
    this.chosen = (at + items.length) % items.length;
    items.forEach((item, place) => item.setAttribute("aria-selected", String(place === this.chosen)));
    items[this.chosen].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", items[this.chosen].id);
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) this.choose(this.chosen + steps[event.key]);
    else if (event.key === "Enter") this.list.querySelector("[aria-selected=true]")?.click();
    else return;
    event.preventDefault();
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const opener = document.getElementById("studio-palette-opener");
  if (opener === null) return;
  const palette = new Palette(opener.dataset.address, opener.dataset);
  opener.addEventListener("click", () => palette.open());
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      palette.open();
    }
  });
});
