"use strict";

// FetchXML in a text area, and the same as rows: either side follows the other. What is sent is the text.
(() => {
  const { parse, written, lacks, note, element, button, picker, group, edits, editedBy, controlOf, parts, titled, link, linkAdder } = studio.query;
  // From this width on, in pixels, the text stands open beside the rows.
  const WIDE = 900;
  const asked = new Map();
  const place = (name) => document.body.querySelector(`[data-${name}-url]`)?.getAttribute(`data-${name}-url`);
  const ask = (entity) => {
    if (!asked.has(entity)) {
      const url = `${place("metadata")}?entity=${encodeURIComponent(entity)}`;
      // What was not answered is asked for again the next time.
      const without = (error) => {
        asked.delete(entity);
        return { attributes: {}, links: [], error };
      };
      asked.set(entity, studio.ask(url).then((answer) => answer.json()).catch(without));
    }
    return asked.get(entity);
  };
  studio.metadata = ask;
  studio.query.recordsUrl = () => place("records");
  document.addEventListener("metadata:refreshed", () => asked.clear());

  // The platform's views, and the words on those that it keeps to itself.
  const viewsOf = async (entity) => {
    const answer = await studio.ask(`${place("views")}?entity=${encodeURIComponent(entity)}`);
    return answer.json();
  };

  // Where a node stands: rows are made of the text, and so of other nodes each time.
  const pathOf = (node) => (node.parentElement ? [...pathOf(node.parentElement), [...node.parentElement.children].indexOf(node)] : []);
  const at = (root, path) => path.reduce((node, step) => node?.children[step], root);

  const summaries = (root, texts, changed) => {
    const box = element("input", { type: "checkbox", checked: root.getAttribute("aggregate") === "true" });
    box.addEventListener("change", (event) => {
      event.stopPropagation();
      if (box.checked) root.setAttribute("aggregate", "true");
      else root.removeAttribute("aggregate");
      for (const column of root.querySelectorAll("attribute")) {
        if (!box.checked) ["aggregate", "groupby", "dategrouping", "alias"].forEach((name) => column.removeAttribute(name));
        else {
          column.setAttribute("groupby", "true");
          if (!column.getAttribute("alias")) column.setAttribute("alias", column.getAttribute("name"));
        }
      }
      root.querySelectorAll("order").forEach((order) => order.remove());
      changed(root, "summary");
    });
    return element("label", { className: "studio-summaries" }, edits(box, root, "summary"), ` ${texts.summaries}`);
  };

  const enhance = async (area) => {
    if (area.dataset.enhanced || area.name.includes("__prefix__")) return;
    area.dataset.enhanced = "yes";
    const of = area.dataset.fetchxml;
    const general = await ask("");
    if (general.error) {
      // The text can be edited all the same.
      const said = studio.failed(general.error, () => {
        said.remove();
        delete area.dataset.enhanced;
        enhance(area);
      });
      area.before(said);
      return;
    }
    const texts = general.texts;
    const box = element("div", { className: "studio-fetchxml" });
    const details = element("details", { className: "studio-query-text" }, element("summary", { textContent: "FetchXML" }));
    const words = element("p", { className: "studio-words" });
    words.dataset.words = area.name;
    words.setAttribute("aria-live", "polite");
    const beside = element("div", { className: "studio-query-beside" }, details);
    const bench = element("div", { className: `studio-query studio-query-${of}` }, box, beside);
    // A field that is moved loses the keyboard's focus: whoever types in it already goes on there.
    const typing = document.activeElement === area ? [area.selectionStart, area.selectionEnd] : null;
    area.before(words, bench);
    details.append(area);
    details.open = Boolean(typing) || (of === "query" && (!area.value.trim() || bench.clientWidth >= WIDE));
    if (typing) {
      area.focus();
      area.setSelectionRange(...typing);
    }
    let root = null;

    // Writes the text as the rows stand; with a node, draws the rows anew and goes on at that part of it.
    const taken = (operator) => general.operators.known[operator]?.values;
    const changed = (node = null, part = "") => {
      area.value = written(root, taken);
      area.dispatchEvent(new Event("input", { bubbles: true }));
      if (node) draw({ path: pathOf(node), part });
    };
    // What the platform did not give when the rows were drawn last, each thing once.
    const lacking = new Map();
    const asking = async (entity) => {
      const known = await ask(entity);
      if (known.error) lacking.set(known.error.message, known.error);
      return known;
    };
    const context = { id: area.id, texts, changed, ask: asking, operators: general.operators, linkTypes: general.link_types, existenceTypes: general.existence_types };

    const ofFilter = async () => {
      const entity = area.dataset.entity;
      const known = entity ? await asking(entity) : { links: [] };
      const own = { ...context, entity };
      own.link = (node) => link(node, own);
      own.existence = (filter) => linkAdder(texts.existence, filter, known, "any", own);
      return [...usual(), await group(root, own)];
    };
    // An empty filter may start from what such filters often are.
    const usual = () => {
      const known = root.children.length ? [] : studio.data().usual || [];
      const start = ({ filter, words }) => edits(button(words, () => {
        root = parse(filter, of);
        changed(root, "first");
      }), root, "start");
      return known.length ? [titled(texts.usual, element("div", { className: "studio-condition-actions" }, ...known.map(start)))] : [];
    };
    const ofQuery = async () => {
      const entity = root.querySelector("entity");
      const name = entity?.getAttribute("name") || "";
      const chosen = picker(texts.entity, "entities", general.entities, name, (value) => {
        entity.setAttribute("name", value);
        changed(entity, "entity");
      });
      edits(chosen, entity, "entity");
      chosen.id = `${area.id}_entity`;
      const content = [titled(texts.entity, chosen)];
      if (name && !entity.children.length) content.push(starts(entity, name));
      if (name) content.push(summaries(root, texts, changed), ...(await parts(entity, name, context)));
      return content;
    };

    // A query of which nothing but the entity is there may start from a view that the platform has.
    // They come when they come: the rows do not wait for them.
    const starts = (entity, name) => {
      const offer = element("div");
      const show = (...content) => {
        offer.replaceChildren(...content);
        offer.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
      };
      const offered = ({ views, denied }) => {
        const content = views.length ? [startFrom(views, entity)] : [];
        if (denied) content.push(studio.failed(new Error(denied)));
        if (content.length) show(...content);
      };
      const look = () => viewsOf(name).then(offered, (error) => show(studio.failed(error, look)));
      look();
      return offer;
    };
    const startFrom = (views, entity) => {
      const offered = new Map(views.map((view) => [view.is_personal ? `${view.name} (${texts.personal})` : view.name, view]));
      const choices = Object.fromEntries([...offered].map(([label]) => [label, { label, facts: "" }]));
      const start = picker(texts.start, `views:${area.id}`, choices, "", (chosen) => {
        if (!offered.has(chosen)) return;
        root = parse(offered.get(chosen).fetchxml, of);
        if (root) changed(root.querySelector("entity"), "entity");
        else draw();
      });
      return titled(texts.start, edits(start, entity, "start"));
    };

    // Where somebody types in the rows, and what stands there; nothing where the control edits no part of the text.
    const typedIn = (field) => {
      const edited = editedBy(field) || editedBy(document.getElementById(field.id.replace(/_search$/, "")));
      return edited && { path: pathOf(edited.node), part: edited.part, value: field.value, from: field.selectionStart, to: field.selectionEnd };
    };
    const goOnTyping = ({ path, part, value, from, to }) => {
      const control = controlOf(box, at(root, path), part);
      const field = control && (document.getElementById(`${control.id}_search`) || control);
      if (!field) return;
      field.focus();
      if (field.matches("input, textarea") && field.value !== value) {
        field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
      if (Number.isInteger(from)) field.setSelectionRange(from, to);
    };

    let drawn = 0;
    const draw = async (then = null, began = document.activeElement) => {
      drawn += 1;
      const turn = drawn;
      if (!then) root = parse(area.value, of);
      if (!root) {
        box.replaceChildren(element("p", { className: "studio-errors", textContent: texts.unreadable }));
        details.open = true;
        return;
      }
      lacking.clear();
      const drawnText = area.value;
      const content = await (of === "filter" ? ofFilter() : ofQuery());
      // What was asked for the rows of an older text may be answered last.
      if (turn !== drawn) return;
      // What was typed into the present rows in the meantime is not in the new ones.
      if (area.value !== drawnText) {
        await draw(then, began);
        return;
      }
      const had = box.contains(document.activeElement);
      // Whoever began to type elsewhere while the rows were being made goes on there.
      const typing = had && document.activeElement !== began ? typedIn(document.activeElement) : null;
      const again = () => draw({ path: [], part: "" });
      box.replaceChildren(...[...lacking.values()].map((error) => studio.failed(error, again)), ...content);
      box.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
      if (typing) {
        goOnTyping(typing);
        return;
      }
      const control = then && controlOf(box, at(root, then.path), then.part);
      // Whoever has gone on to another part of the page in the meantime stays there.
      if (control && (had || document.activeElement.contains(box))) (document.getElementById(`${control.id}_search`) || control).focus();
    };
    // A row that lacks something is not part of the text, and would be lost: it is completed or removed before saving.
    area.form?.addEventListener("submit", (event) => {
      box.querySelectorAll("[data-lacking]").forEach((one) => one.remove());
      const node = root && [...root.querySelectorAll("attribute, order, condition")].find((one) => lacks(one, taken));
      if (!node || event.defaultPrevented) return;
      const part = lacks(node, taken);
      const control = controlOf(box, node, part === "attribute" ? "first" : part);
      const said = note(texts.lacking[part]);
      said.dataset.lacking = part;
      (control.closest(".studio-condition") || box).append(said);
      (document.getElementById(`${control.id}_search`) || control).focus();
      event.preventDefault();
      event.stopImmediatePropagation();
    }, true);
    // Enter goes on in the rows: it does not save the page.
    box.addEventListener("keydown", (event) => event.key === "Enter" && event.target.matches("input") && event.preventDefault());
    let waiting = null;
    area.addEventListener("input", (event) => {
      if (!event.isTrusted) return;
      clearTimeout(waiting);
      waiting = setTimeout(draw, 400);
    });
    await draw();
    area.dispatchEvent(new CustomEvent("query:built", { bubbles: true, detail: beside }));
  };

  const enhanceIn = (node) => node.querySelectorAll("textarea[data-fetchxml]").forEach(enhance);
  document.addEventListener("DOMContentLoaded", () => enhanceIn(document));
  document.addEventListener("row:added", (event) => enhanceIn(event.target));
})();
