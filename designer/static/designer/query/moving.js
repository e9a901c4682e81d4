"use strict";

// Rows of a query are moved: dragged by their handle (SortableJS), or with its arrow keys. A condition goes into groups
// and out of them.
(() => {
  const { button, edits, editedBy, move } = studio.query;

  const handle = (node, { texts, changed }) => {
    const made = button("⠿", () => made.focus(), "studio-tool studio-drag");
    made.ariaLabel = texts.move;
    made.title = texts.move;
    made.setAttribute("aria-keyshortcuts", "ArrowUp ArrowDown");
    made.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      if (move(node, by)) changed(node, "move");
    });
    return edits(made, node, "move");
  };

  // What a list holds may be dropped in any other list of its `kind`: those of one entity's conditions, say.
  const movable = (list, parent, kind, { changed }) => {
    edits(list, parent, "list");
    new Sortable(list, {
      group: kind,
      handle: ".studio-drag",
      draggable: ".studio-movable",
      animation: 120,
      onEnd: ({ item, to }) => {
        const node = editedBy(item.querySelector(".studio-drag"))?.node;
        const target = editedBy(to)?.node;
        if (!node || !target || node.contains(target)) return changed(node, "move");
        const next = item.nextElementSibling?.querySelector(".studio-drag");
        const before = next && editedBy(next).node;
        if (before) before.before(node);
        else target.append(node);
        return changed(node, "move");
      },
    });
    return list;
  };

  Object.assign(studio.query, { handle, movable });
})();
