// A form made of the fields that /api/schema describes: what the consultant adds in the studio is in it.

import { make } from "./elements.js";
import { say } from "./texts.js";

const NUMBERS = { Integer: "1", BigInt: "1", Decimal: "any", Double: "any", Money: "any" };
const KINDS = { Date: "date", DateTime: "datetime-local", Boolean: "checkbox" };

// A labelled control for each field, filled with `values` by name.
export function controls(fields, values = {}) {
  return fields.map((field) => labelled(field, values[field.name]));
}

// What was filled in, by name; what was left empty is null.
export function read(form, fields) {
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(form.elements[field.name], field)]));
}

// Show what a problem says at the fields it names, and put the first of them before the reader. Answers whether
// there was one.
export function blame(form, problem) {
  for (const old of form.querySelectorAll(".error")) old.remove();
  for (const old of form.querySelectorAll("[aria-invalid]")) {
    old.removeAttribute("aria-invalid");
    describe(old, old.dataset.hint);
  }
  let first = null;
  for (const { pointer, parameter, message } of problem?.errors ?? []) {
    const control = form.elements[parameter ?? pointer.slice(1)];
    if (!control) continue;
    const id = `error-${control.id}`;
    control.setAttribute("aria-invalid", "true");
    describe(control, [id, control.dataset.hint].filter(Boolean).join(" "));
    control.closest("label").append(make("span", { class: "error", id }, message));
    first ??= control;
  }
  first?.focus();
  return first !== null;
}

function describe(control, ids) {
  if (ids) control.setAttribute("aria-describedby", ids);
  else control.removeAttribute("aria-describedby");
}

function labelled(field, value) {
  const control = controlOf(field);
  control.id = `field-${field.name}`;
  control.name = field.name;
  control.setAttribute("aria-required", String(field.required));
  put(control, value ?? field.default);
  const words = make("span", {}, field.label, field.required ? make("span", { class: "soft" }, ` · ${say("required")}`) : null);
  const place = { class: field.type === "Text" || field.maxLength > 150 ? "whole" : null };
  // Options say themselves what they are.
  if (!field.description || field.optionSet) return make("label", place, words, control);
  const hint = make("small", { id: `hint-${field.name}` }, field.description);
  control.dataset.hint = hint.id;
  describe(control, hint.id);
  return make("label", place, words, control, hint);
}

function controlOf(field) {
  if (field.optionSet) return select(field, field.optionSet.options);
  if (field.allowed) return select(field, field.allowed.map((value) => ({ value, name: String(value) })));
  const length = field.maxLength === undefined ? {} : { maxlength: field.maxLength };
  if (field.type === "Text") return make("textarea", { rows: 5, ...length });
  const type = field.type in NUMBERS ? "number" : KINDS[field.type] ?? "text";
  const number = type === "number" ? { step: NUMBERS[field.type], min: field.min, max: field.max } : {};
  return make("input", { type, ...number, ...length });
}

function select(field, options) {
  const empty = field.required || field.default !== undefined ? [] : [make("option", { value: "" })];
  return make("select", {}, empty, options.map(({ value, name }) => make("option", { value }, name)));
}

function put(control, value) {
  if (value === null || value === undefined) return;
  if (control.type === "checkbox") control.checked = value;
  else control.value = value;
}

function valueOf(control, field) {
  if (control.type === "checkbox") return control.checked;
  const text = control.value.trim();
  if (text === "") return null;
  if (field.optionSet || field.type === "Integer" || field.type === "Double") return Number(text);
  // Money travels as text: a browser's numbers would lose digits.
  return field.type === "DateTime" ? new Date(text).toISOString() : text;
}
