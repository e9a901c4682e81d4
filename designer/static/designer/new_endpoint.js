"use strict";

// A new endpoint: the fields that its kind needs, and the path that they make as one types.
class NewEndpoint {
  constructor(kind) {
    this.kind = kind;
    this.kinds = JSON.parse(kind.dataset.kinds);
    const names = ["module", "entity", "segment", "name", "callers", ...Object.values(this.kinds).flatMap(({ fields }) => fields)];
    this.fields = Object.fromEntries(
      names.map((name) => [name, document.getElementById(`id_${name}`)]).filter(([, field]) => field),
    );
    this.path = document.createElement("code");
    const line = document.createElement("p");
    line.className = "studio-path studio-new-path";
    line.setAttribute("aria-live", "polite");
    line.append(this.path);
    kind.closest(".form-rows").before(line);
    kind.form.addEventListener("input", () => this.show());
    // The look's own widgets tell of a choice by jQuery alone.
    window.django?.jQuery(kind.form).on("change", () => this.show());
    this.show();
  }

  show() {
    const asked = this.kinds[this.kind.value];
    if (!asked) return;
    for (const [name, field] of Object.entries(this.fields)) field.closest(".form-row").hidden = !asked.fields.includes(name);
    const value = (name) => (asked.fields.includes(name) ? this.fields[name]?.value.trim() : "");
    const entity = this.segments("entity")[value("entity")] ?? [];
    const known = {
      module: entity[0] ?? this.segments("module")[value("module")],
      segment: value("segment") || entity[1],
      name: value("name") || this.nameOfChoice(asked.names),
    };
    if (this.fields.name) this.fields.name.placeholder = this.nameOfChoice(asked.names);
    const path = asked.path.replace(/\{(module|segment|name)\}/g, (whole, name) => known[name] || whole);
    this.path.textContent = `${asked.methods} ${path}`;
  }

  // What the endpoint is called when its name is left empty: after the column, process or option set.
  nameOfChoice(names) {
    const chosen = new FormData(this.kind.form);
    const made = Object.entries(names).map(([field, byChoice]) => byChoice[chosen.get(field)]);
    return made.find(Boolean) ?? "";
  }

  segments(name) {
    return JSON.parse(this.fields[name]?.dataset.segments ?? "{}");
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const kind = document.querySelector("select[data-kinds]");
  if (kind) new NewEndpoint(kind);
});
