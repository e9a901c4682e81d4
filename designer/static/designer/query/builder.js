"use strict";

// FetchXML in a text area, and the same as rows: either side follows the other. What is sent is the text.
(() => {
  const { parse, written, lacks, note, element, button, picker, group, edits, controlOf, parts, titled, link, linkAdder } = studio.query;
  // From this width on, in pixels, the text stands open beside the rows.
  const WIDE = 900;
  const asked = new Map();
  const place = (name) => document.body.querySelector(`[data-${name}-url]`)?.getAttribute(`data-${name}-url`);
  const ask = (entity) => {
    if (!asked.has(entity)) {
      const url = `${place("metadata")}?entity=${encodeURIComponent(entity)}`;
      asked.set(entity, fetch(url).then((answer) => (answer.ok ? answer.json() : { attributes: {}, links: [] })));
    }
    return asked.get(entity);
  };
  studio.metadata = ask;
  studio.query.recordsUrl = () => place("records");
  document.addEventListener("metadata:refreshed", () => asked.clear());

  const viewsOf = async (entity) => {
    const answer = await fetch(`${place("views")}?entity=${encodeURIComponent(entity)}`);
    return answer.ok ? (await answer.json()).views : [];
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
    if (!general.operators) return;
    const texts = general.texts;
    const box = element("div", { className: "studio-fetchxml" });
    const details = element("details", { className: "studio-query-text" }, element("summary", { textContent: "FetchXML" }));
    const words = element("p", { className: "studio-words" });
    words.dataset.words = area.name;
    words.setAttribute("aria-live", "polite");
    const beside = element("div", { className: "studio-query-beside" }, details);
    const bench = element("div", { className: `studio-query studio-query-${of}` }, box, beside);
    area.before(words, bench);
    details.append(area);
    details.open = of === "query" && (!area.value.trim() || bench.clientWidth >= WIDE);
    let root = null;

    // Writes the text as the rows stand; with a node, draws the rows anew and goes on at that part of it.
    const taken = (operator) => general.operators.known[operator]?.values;
    const changed = (node = null, part = "") => {
      area.value = written(root, taken);
      area.dispatchEvent(new Event("input", { bubbles: true }));
      if (node) draw({ path: pathOf(node), part });
    };
    const context = { id: area.id, texts, changed, ask, operators: general.operators, linkTypes: general.link_types, existenceTypes: general.existence_types };

    const ofFilter = async () => {
      const entity = area.dataset.entity;
      const known = entity ? await ask(entity) : { links: [] };
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
      if (name && !entity.children.length) content.push(...(await starts(entity, name)));
      if (name) content.push(summaries(root, texts, changed), ...(await parts(entity, name, context)));
      return content;
    };

    // A query of which nothing but the entity is there may start from a view that the platform has.
    const starts = async (entity, name) => {
      const views = await viewsOf(name);
      if (!views.length) return [];
      const offered = new Map(views.map((view) => [view.is_personal ? `${view.name} (${texts.personal})` : view.name, view]));
      const choices = Object.fromEntries([...offered].map(([label]) => [label, { label, facts: "" }]));
      const start = picker(texts.start, `views:${area.id}`, choices, "", (chosen) => {
        if (!offered.has(chosen)) return;
        root = parse(offered.get(chosen).fetchxml, of);
        if (root) changed(root.querySelector("entity"), "entity");
        else draw();
      });
      return [titled(texts.start, edits(start, entity, "start"))];
    };

    let drawn = 0;
    const draw = async (then = null) => {
      drawn += 1;
      const turn = drawn;
      if (!then) root = parse(area.value, of);
      if (!root) {
        box.replaceChildren(element("p", { className: "studio-errors", textContent: texts.unreadable }));
        details.open = true;
        return;
      }
      const content = await (of === "filter" ? ofFilter() : ofQuery());
      // What was asked for the rows of an older text may be answered last.
      if (turn !== drawn) return;
      const had = box.contains(document.activeElement);
      box.replaceChildren(...content);
      box.dispatchEvent(new CustomEvent("row:added", { bubbles: true }));
      const control = then && controlOf(box, at(root, then.path), then.part);
      // Whoever has gone on to another part of the page in the meantime stays there.
      if (control && (had || document.activeElement === document.body)) (document.getElementById(`${control.id}_search`) || control).focus();
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
    let typing = null;
    area.addEventListener("input", (event) => {
      if (!event.isTrusted) return;
      clearTimeout(typing);
      typing = setTimeout(draw, 400);
    });
    await draw();
    area.dispatchEvent(new CustomEvent("query:built", { bubbles: true, detail: beside }));
  };

  const enhanceIn = (node) => node.querySelectorAll("textarea[data-fetchxml]").forEach(enhance);
  document.addEventListener("DOMContentLoaded", () => enhanceIn(document));
  document.addEventListener("row:added", (event) => enhanceIn(event.target));
})();
