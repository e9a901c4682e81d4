// A form made of the fields that /api/schema describes.

import { call } from "./api.js";

const NUMBERS = { Integer: "1", BigInt: "1", Decimal: "any", Double: "any", Money: "any" };
const KINDS = { Date: "date", DateTime: "datetime-local", Boolean: "checkbox" };

// Put a labelled control for each field into `form`, and a button.
export async function build(form, fields, button, lcid) {
  const labels = await Promise.all(fields.map((field) => labelled(field, lcid)));
  form.replaceChildren(...labels, button);
}

// What was filled in, by name; what was left empty is left out.
export function read(form, fields) {
  const values = {};
  for (const field of fields) {
    const value = valueOf(form.elements[field.name], field);
    if (value !== null) values[field.name] = value;
  }
  return values;
}

// Show what a problem says at the fields it names, and answer what belongs to none.
export function blame(form, problem) {
  for (const old of form.querySelectorAll(".error")) old.remove();
  for (const old of form.querySelectorAll("[aria-invalid]")) old.removeAttribute("aria-invalid");
  for (const { pointer, parameter, message } of problem?.errors ?? []) {
    const control = form.elements[parameter ?? pointer.slice(1)];
    if (!control) continue;
    control.setAttribute("aria-invalid", "true");
    const words = document.createElement("span");
    words.className = "error";
    words.textContent = message;
    control.after(words);
  }
}

async function labelled(field, lcid) {
  const label = document.createElement("label");
  const control = await controlOf(field, lcid);
  control.name = field.name;
  control.required = field.required;
  label.append(field.label + (field.required ? " *" : ""), control);
  if (field.description) label.append(small(field.description));
  return label;
}

async function controlOf(field, lcid) {
  if (field.optionSet) return select(field, await optionsOf(field.optionSet, lcid));
  if (field.candidates?.length) return select(field, await candidatesOf(field));
  if (field.allowed) return select(field, field.allowed.map((value) => ({ value, name: String(value) })));
  if (field.type === "Text") return Object.assign(document.createElement("textarea"), limits(field));
  const input = Object.assign(document.createElement("input"), limits(field));
  if (field.type in NUMBERS) {
    input.type = "number";
    input.step = NUMBERS[field.type];
    if (field.min !== undefined) input.min = field.min;
    if (field.max !== undefined) input.max = field.max;
  } else {
    input.type = KINDS[field.type] ?? "text";
  }
  return input;
}

// Where an option set has an address, it is asked in the reader's language; else the schema has the options.
async function optionsOf(optionSet, lcid) {
  return optionSet.url ? call("GET", optionSet.url, { query: { lcid } }) : optionSet.options;
}

// Records that a reference may point at: the first page of a query that lists such, by what they are called.
async function candidatesOf(field) {
  const { url, id, name } = field.candidates[0];
  const found = await call("GET", url);
  // A paginated query answers with a page, a multi query with its rows.
  return (found.data ?? found).map((record) => ({ value: record[id], name: record[name ?? id] }));
}

function select(field, options) {
  const control = document.createElement("select");
  control.multiple = field.type === "MultiOptionSet";
  if (!field.required && !control.multiple) control.add(new Option("", ""));
  for (const { value, name } of options) control.add(new Option(name, value));
  return control;
}

function limits(field) {
  return field.maxLength === undefined ? {} : { maxLength: field.maxLength };
}

function small(text) {
  const words = document.createElement("small");
  words.textContent = text;
  return words;
}

function valueOf(control, field) {
  if (control.multiple) {
    const chosen = [...control.selectedOptions].map((option) => Number(option.value));
    return chosen.length ? chosen : null;
  }
  if (control.type === "checkbox") return control.checked;
  if (control.value === "") return null;
  if (field.optionSet || field.type === "Integer" || field.type === "Double") return Number(control.value);
  // Money travels as text: a browser's numbers would lose digits.
  if (field.type === "DateTime") return new Date(control.value).toISOString();
  return control.value;
}
