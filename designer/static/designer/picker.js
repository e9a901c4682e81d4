"use strict";

// A list of choices that is searched by typing: label, name and facts. The select under it stays what is sent.
(() => {
  const offered = (select) => {
    const known = studio.data()[select.dataset.picker];
    if (!known) return [...select.options].map((option) => ({ value: option.value, label: option.text, facts: "" }));
    const choices = Object.entries(known).map(([value, { label, facts }]) => ({ value, label, facts }));
    const present = select.value;
    if (present && !known[present]) {
      choices.unshift({ value: present, label: select.selectedOptions[0].text, facts: "" });
    }
    return choices;
  };

  const titled = (choice) =>
    choice.value && choice.label !== choice.value && !choice.label.includes(`(${choice.value})`)
      ? `${choice.label} (${choice.value})`
      : choice.label;

  // Who types a whole name means that one, not the first that has it somewhere.
  const rank = (choice, text) => {
    const names = [choice.value.toLowerCase(), choice.label.toLowerCase()];
    if (names.includes(text)) return 0;
    return names.some((name) => name.startsWith(text)) ? 1 : 2;
  };

  // A slip of the finger in a word: a letter too many, one too few, another one, or two that are swapped.
  const MOST_SLIPS = 2;
  const LETTERS_PER_SLIP = 4;
  // How many slips lie between what was typed and the beginning of a word that is most like it.
  const slips = (typed, word) => {
    const rows = [Array.from({ length: word.length + 1 }, (_, at) => at)];
    for (let one = 1; one <= typed.length; one += 1) {
      const row = [one];
      for (let other = 1; other <= word.length; other += 1) {
        const isSame = typed[one - 1] === word[other - 1];
        row[other] = Math.min(rows[one - 1][other] + 1, row[other - 1] + 1, rows[one - 1][other - 1] + (isSame ? 0 : 1));
        const isSwapped = one > 1 && other > 1 && typed[one - 1] === word[other - 2] && typed[one - 2] === word[other - 1];
        if (isSwapped) row[other] = Math.min(row[other], rows[one - 2][other - 2] + 1);
      }
      rows.push(row);
    }
    return Math.min(...rows[typed.length]);
  };
  const isMeant = (typed, text) => {
    const allowed = Math.min(MOST_SLIPS, Math.floor(typed.length / LETTERS_PER_SLIP));
    return text.split(/[^\p{L}\p{N}]+/u).some((word) => slips(typed, word) <= allowed);
  };

  const enhance = (select) => {
    if (select.dataset.enhanced || select.name.includes("__prefix__")) return;
    select.dataset.enhanced = "yes";
    const box = document.createElement("div");
    box.className = "studio-picker";
    const input = document.createElement("input");
    const list = document.createElement("ul");
    const facts = document.createElement("p");
    input.type = "text";
    if (select.dataset.placeholder) input.placeholder = select.dataset.placeholder;
    if (select.hasAttribute("form")) input.setAttribute("form", select.getAttribute("form"));
    input.id = `${select.id}_search`;
    input.className = select.className;
    input.autocomplete = "off";
    if (select.ariaLabel) input.ariaLabel = select.ariaLabel;
    if (select.hasAttribute("aria-describedby")) input.setAttribute("aria-describedby", select.getAttribute("aria-describedby"));
    input.spellcheck = false;
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-controls", `${select.id}_list`);
    list.id = `${select.id}_list`;
    list.className = "studio-choices";
    list.setAttribute("role", "listbox");
    list.hidden = true;
    facts.className = "studio-facts";
    select.before(box);
    box.append(input, list, facts, select);
    select.hidden = true;
    // A label stands beside its list. To look for it in the whole page would take hundreds of lists a second.
    const label = `label[for="${select.id}"]`;
    const near = box.closest("[data-cell], .studio-field, .field-line");
    (near?.querySelector(label) ?? document.querySelector(label))?.setAttribute("for", input.id);
    let shown = [];
    let at = -1;

    const show = () => {
      const chosen = offered(select).find((choice) => choice.value === select.value);
      input.value = chosen && chosen.value ? titled(chosen) : "";
      facts.textContent = chosen?.facts || "";
    };
    const close = () => {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    };
    const mark = (next) => {
      at = next;
      [...list.children].forEach((item, index) => {
        item.setAttribute("aria-selected", String(index === at));
        if (index === at) {
          input.setAttribute("aria-activedescendant", item.id);
          item.scrollIntoView({ block: "nearest" });
        }
      });
    };
    const open = (text) => {
      const words = text.toLowerCase().split(/\s+/).filter(Boolean);
      const having = (has) => offered(select).filter((choice) => {
        const all = `${choice.label} ${choice.value} ${choice.facts}`.toLowerCase();
        return choice.value && words.every((word) => has(all, word));
      });
      shown = having((all, word) => all.includes(word));
      if (!shown.length) shown = having((all, word) => all.includes(word) || isMeant(word, all));
      const whole = words.join(" ");
      if (whole) shown.sort((one, other) => rank(one, whole) - rank(other, whole));
      list.replaceChildren(
        ...shown.map((choice, index) => {
          const item = document.createElement("li");
          const name = document.createElement("span");
          const small = document.createElement("small");
          item.id = `${list.id}_${index}`;
          item.setAttribute("role", "option");
          item.dataset.value = choice.value;
          name.textContent = titled(choice);
          small.textContent = choice.facts;
          item.append(name, small);
          return item;
        }),
      );
      if (!shown.length) {
        const none = document.createElement("li");
        none.className = "studio-nothing";
        none.textContent = studio.nothing();
        list.append(none);
      }
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      mark(shown.length && words.length ? 0 : shown.findIndex((choice) => choice.value === select.value));
    };
    const choose = (value) => {
      studio.set(select, value);
      show();
      close();
    };

    input.addEventListener("focus", () => input.select());
    input.addEventListener("click", () => list.hidden && open(""));
    input.addEventListener("input", (event) => {
      event.stopPropagation();
      if (!input.value.trim() && !select.required) studio.set(select, "");
      open(input.value);
    });
    input.addEventListener("change", (event) => event.stopPropagation());
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (list.hidden) open("");
        else if (shown.length) mark((at + (event.key === "ArrowDown" ? 1 : shown.length - 1)) % shown.length);
      } else if (event.key === "Enter" && !list.hidden) {
        event.preventDefault();
        if (shown[at]) choose(shown[at].value);
      } else if (event.key === "Escape" && !list.hidden) {
        event.stopPropagation();
        close();
        show();
      }
    });
    input.addEventListener("blur", () => {
      close();
      show();
    });
    list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const item = event.target.closest("[data-value]");
      if (item) choose(item.dataset.value);
    });
    select.addEventListener("change", show);
    show();
    // The list itself is hidden: the browser cannot begin there.
    if (select.autofocus) {
      select.autofocus = false;
      input.autofocus = true;
      input.focus();
    }
  };

  const enhanceIn = (studio.pick = (node) => node.querySelectorAll("select[data-picker]").forEach(enhance));
  document.addEventListener("DOMContentLoaded", () => enhanceIn(document));
  for (const name of ["row:added", "row:completed"]) document.addEventListener(name, (event) => enhanceIn(event.target));
})();
