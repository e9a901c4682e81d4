"use strict";

// What a condition compares with, by the type of its attribute: options by their labels, days from a calendar, records
// by their names; or “@…”, which the caller sends.
(() => {
  const { LISTS, PAIRS, valuesOf, setValues, labelsOf, element, button, select, edits } = studio.query;
  const DATES = ["date", "datetime"];
  const DAY = /^(\d{4}-\d{2}-\d{2})?$/;
  const IS_ID = /^\{?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?$/i;

  const isReference = (text) => text.startsWith("@");

  // An input of the endpoint; made where there is none of that name, so that “@name” means something. Two inputs cannot
  // differ in case alone.
  const nameIn = (row) => studio.rows.field(row, "name").value;
  const rowOf = (name) => studio.rows.all("inputs").find((row) => nameIn(row).toLowerCase() === name.toLowerCase());
  const addParameter = (name, type, description) => {
    if (document.querySelector('[data-rows="inputs"]') && !rowOf(name)) studio.rows.add("inputs", { name, type, description });
  };
  const freeName = (wanted, type) => {
    const fits = (name) => !rowOf(name) || (nameIn(rowOf(name)) === name && studio.rows.field(rowOf(name), "type").value === type);
    let name = wanted;
    for (let count = 2; !fits(name); count += 1) name = `${wanted}${count}`;
    return name;
  };

  const choicesOf = (attribute, texts) => {
    if (attribute?.options?.length) return attribute.options.map(([value, label]) => [value, `${label} (${value})`]);
    return attribute?.editor === "boolean" ? [["1", texts.yes], ["0", texts.no]] : null;
  };
  const withPresent = (choices, present) => [
    ...choices,
    ...present.filter((value) => value && !choices.some(([key]) => key === value)).map((value) => [value, value]),
  ];

  // Values between commas. One that would be read differently is in JSON quotes, as in the lists of an issuer's page.
  const asPart = (text) => (!text || text !== text.trim() || /[",\r\n]/.test(text) ? JSON.stringify(text) : text);
  const unquoted = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };
  const partsOf = (text) =>
    [...text.matchAll(/\s*("(?:[^"\\]|\\.)*")\s*(?=,|$)|[^,]+/g)]
      .filter(([part, quoted]) => quoted || part.trim())
      .map(([part, quoted]) => (quoted ? unquoted(quoted) : part.trim()));

  const several = (choices, present, { texts, give }) => {
    const offered = withPresent(choices, present);
    const made = element("select", { className: "studio-input", ariaLabel: texts.value, multiple: true, size: Math.min(offered.length, 5) });
    made.append(...offered.map(([value, text]) => new Option(text, value, false, present.includes(value))));
    made.addEventListener("change", (event) => {
      event.stopPropagation();
      give([...made.selectedOptions].map((one) => one.value));
    });
    return made;
  };

  // Any other field than a text area joins lines.
  const typed = (present, put, { texts, attribute, operator }, more = {}) => {
    const input = element(/[\r\n]/.test(present) ? "textarea" : "input", { className: "studio-input", ariaLabel: texts.value, placeholder: "@…", value: present, autocomplete: "off", ...more });
    input.dataset.suggests = "references";
    const type = attribute?.parameters?.[operator];
    if (type) Object.assign(input.dataset, { parameterType: type, parameterLabel: attribute.label });
    input.addEventListener("input", (event) => {
      event.stopPropagation();
      put(input.value);
    });
    return input;
  };

  const day = (present, put, { texts }) => {
    const input = element("input", { type: "date", className: "studio-input", ariaLabel: texts.value, value: present });
    input.addEventListener("input", (event) => {
      event.stopPropagation();
      put(input.value);
    });
    return input;
  };

  // A record is found by its name; its id is what is kept, and its name is noted beside it.
  const record = (present, put, { texts, attribute, labels }) => {
    const box = element("div", { className: "studio-picker" });
    const input = element("input", { className: "studio-input", ariaLabel: texts.value, placeholder: texts.search, autocomplete: "off", value: labels[present] || present });
    const list = element("ul", { className: "studio-choices", hidden: true, id: `records-${Math.random().toString(36).slice(2)}` });
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-controls", list.id);
    input.dataset.suggests = "references";
    Object.assign(input.dataset, { parameterType: attribute.parameters.eq || "", parameterLabel: attribute.label });
    list.setAttribute("role", "listbox");
    let at = -1;
    const mark = (next) => {
      at = next;
      [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === at)));
      input.setAttribute("aria-activedescendant", list.children[at]?.id || "");
    };
    // Searches that are over: what one of them still finds is not shown any more.
    let turn = 0;
    let waiting = null;
    const close = () => {
      turn += 1;
      clearTimeout(waiting);
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
    };
    // What is compared with, and what the field shows for it: a name that was typed and not chosen is neither.
    let value = present;
    let shown = input.value;
    const keep = (text, label = text) => {
      [value, shown] = [text, label];
      put(text);
    };
    const ask = async (asked) => {
      const answers = await Promise.all(
        attribute.targets.map((entity) => studio.ask(`${studio.query.recordsUrl()}?${new URLSearchParams({ entity, ...asked })}`)),
      );
      const found = await Promise.all(answers.map((answer) => answer.json()));
      return found.flatMap(({ records }) => records);
    };
    const choose = ({ id, label }) => {
      input.value = label;
      labels[id] = label;
      keep(id, label);
      close();
    };
    const show = (records, said = studio.nothing()) => {
      list.replaceChildren(...records.map((one, index) => {
        const item = element("li", { id: `${list.id}-${index}`, textContent: one.label, role: "option" });
        item.addEventListener("mousedown", (event) => {
          event.preventDefault();
          choose(one);
        });
        item.choose = () => choose(one);
        return item;
      }));
      if (!records.length) list.append(element("li", { className: "studio-nothing", textContent: said }));
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      mark(records.length ? 0 : -1);
    };
    const search = () => {
      turn += 1;
      const own = turn;
      clearTimeout(waiting);
      waiting = setTimeout(async () => {
        try {
          const records = await ask({ search: input.value.trim() });
          if (own === turn) show(records);
        } catch (error) {
          if (own === turn) show([], `✖ ${error.message}`);
        }
      }, 250);
    };
    input.addEventListener("input", (event) => {
      event.stopPropagation();
      const text = input.value.trim();
      if (isReference(text) || IS_ID.test(text)) {
        close();
        keep(text);
      } else if (text) search();
      else {
        close();
        keep("");
      }
    });
    input.addEventListener("keydown", (event) => {
      if (event.defaultPrevented) return;
      if (event.key === "ArrowDown" && list.hidden && !isReference(input.value)) search();
      else if (list.hidden) return;
      else if (event.key === "ArrowDown") mark((at + 1) % list.children.length);
      else if (event.key === "ArrowUp") mark((at + list.children.length - 1) % list.children.length);
      else if (event.key === "Enter") list.children[at]?.choose?.();
      else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
    });
    input.addEventListener("blur", () => {
      close();
      input.value = shown;
    });
    if (IS_ID.test(present) && !labels[present]) {
      // Without an answer, the id stands there.
      ask({ id: present }).then(([one]) => {
        if (!one || value !== present) return;
        if (input.value === shown) input.value = one.label;
        shown = one.label;
      }, () => {});
    }
    box.append(input, list);
    return { box, input };
  };

  // A calendar and a list take no “@”: whoever types it there means a parameter, and goes on in a field for its name.
  const orParameter = (control, put, at, { attribute, operator, redraw }) => {
    control.addEventListener("keydown", (event) => {
      if (event.key !== "@" || !attribute?.parameters?.[operator]) return;
      event.preventDefault();
      put("@");
      redraw(at);
    });
    return control;
  };

  const one = (present, put, at, context) => {
    const { attribute, operator, texts } = context;
    const choices = choicesOf(attribute, texts);
    if (isReference(present) || operator.includes("-x-")) return typed(present, put, context, operator.includes("-x-") ? { inputMode: "numeric" } : {});
    if (choices) return orParameter(select(texts.value, [["", "—"], ...withPresent(choices, [present])], present, put), put, at, context);
    if (DATES.includes(attribute?.editor) && DAY.test(present)) return orParameter(day(present, put, context), put, at, context);
    if (attribute?.targets?.length && !context.isPattern) return record(present, put, context);
    return typed(present, put, context);
  };

  const listed = (present, context) => {
    const { attribute, texts, give } = context;
    const choices = choicesOf(attribute, texts);
    if (choices && !present.some(isReference)) return [several(choices, present, context)];
    const put = (text) => give(partsOf(text));
    return [typed(present.map(asPart).join(", "), put, context, { placeholder: texts.several })];
  };

  // “@” beside a value: the caller sends it, by a parameter of the attribute's name and type. Pressed again, it does not.
  const fromCaller = (condition, present, { attribute, operator, texts, give, redraw }) => {
    const type = attribute?.parameters?.[operator];
    if (!type) return [];
    const isOn = present.some(isReference);
    const made = button("@", () => {
      if (isOn) give([]);
      else {
        const name = freeName(attribute.input?.name || attribute.name, type);
        const names = PAIRS.includes(operator) ? [`${name}From`, `${name}To`] : [name];
        names.forEach((each) => addParameter(each, type, attribute.label));
        give(names.map((each) => `@${each}`));
      }
      redraw();
    }, "studio-tool studio-caller");
    made.ariaLabel = texts.caller;
    made.title = texts.caller;
    made.setAttribute("aria-pressed", String(isOn));
    return [edits(made, condition, "caller")];
  };

  // Controls for a condition's value, the main one first.
  const valueEditor = (condition, attribute, taken, { texts, changed }) => {
    if (taken === 0) return [];
    const operator = condition.getAttribute("operator");
    const present = valuesOf(condition);
    const labels = labelsOf(condition);
    const give = (values) => {
      setValues(condition, operator, values, labels);
      changed();
    };
    const partAt = (at) => (at ? `value ${at}` : "value");
    const redraw = (at = 0) => changed(condition, partAt(at));
    const isPattern = attribute?.parameters?.[operator] !== attribute?.parameters?.eq;
    const context = { attribute, operator, texts, labels, give, redraw, isPattern };
    const caller = fromCaller(condition, present, context);
    if (LISTS.includes(operator)) {
      const [main] = listed(present, context);
      return [edits(main, condition, "value"), ...caller];
    }
    const values = [...present];
    const editors = Array.from({ length: taken }, (_, at) =>
      one(present[at] || "", (text) => {
        values[at] = text;
        give(taken === 1 ? (text === "" ? [] : [text]) : [...values].map((value) => value ?? ""));
      }, at, context),
    );
    editors.forEach((made, at) => edits(made.input || made, condition, partAt(at)));
    return [...editors.map((made) => made.box || made), ...caller];
  };

  Object.assign(studio.query, { valueEditor, addParameter });
})();
