// Cases: the lists, one of them with its attachments, and a new one.

import { call, download, upload } from "./api.js";
import { loading, make, show } from "./elements.js";
import { blame, controls, read } from "./form.js";
import { day, lcid, say, size } from "./texts.js";

const OPEN = 0;
const STATES = [["", "all"], [0, "open"], [1, "solved"], [2, "cancelled"]];
const SCHEMA = "/api/schema/entities/portal.cases";

export async function myCases(main) {
  const list = make("div");
  const more = make("button", { type: "button", hidden: true }, say("more"));
  const count = make("output", { class: "soft", "aria-live": "polite" });
  const state = make("select", { name: "state" }, STATES.map(([value, name]) => make("option", { value }, say(name))));
  const text = make("input", { name: "text", type: "search", maxlength: 100 });
  const filter = make(
    "form",
    { class: "filter", role: "search" },
    make("label", {}, say("state"), state),
    make("label", {}, say("searchTitle"), text),
    make("button", {}, say("find")),
  );
  let rows = [];
  let cursor = null;

  async function page() {
    const given = { state: state.value, text: text.value, lcid: lcid(), cursor };
    const found = await call("GET", "/api/portal/queries/my-cases", { query: given });
    const at = rows.length;
    rows = [...rows, ...found.data];
    cursor = found.cursor;
    const none = state.value === "" && text.value === "" ? say("noCases") : say("noCasesFound");
    show(list, rows.length === 0 ? make("p", { class: "empty" }, none) : table(rows, false));
    more.hidden = cursor === null;
    count.textContent = rows.length === 0 ? "" : say("shown", rows.length, found.totalRecordCount);
    // The button may be gone: whoever pressed it goes on with the first of the rows that came.
    if (at > 0) list.querySelectorAll("tbody a")[at]?.focus();
  }

  async function again() {
    [rows, cursor] = [[], null];
    loading(list, say("loading"));
    await page();
  }

  const handled = (act) => (event) => {
    event.preventDefault();
    act().catch((problem) => failed(list, problem, again));
  };
  filter.addEventListener("submit", handled(again));
  state.addEventListener("change", handled(again));
  more.addEventListener("click", handled(page));
  const head = make("div", { class: "head" }, make("h1", {}, say("myCases")), make("a", { class: "button", href: "#/new" }, say("newCase")));
  show(main, head, filter, list, make("div", { class: "foot" }, more, count));
  await again();
}

export async function companyCases(main, { user }) {
  const rows = await call("GET", "/api/portal/queries/company-cases", { query: { lcid: lcid() } });
  show(
    main,
    make("h1", {}, say("companyCases")),
    make("p", { class: "lead" }, say("companyWords", user.company.name)),
    rows.length === 0 ? make("p", { class: "empty" }, say("noCases")) : table(rows, true),
  );
}

export async function newCase(main, { announce }) {
  const { operations } = await call("GET", SCHEMA, { query: { lcid: lcid() } });
  const { method, path, fields } = operations.create;
  const form = make("form", { class: "panel grid", novalidate: true }, controls(fields), make("button", {}, say("report")));
  onSubmit(form, announce, async () => {
    const filled = Object.entries(read(form, fields)).filter(([, value]) => value !== null);
    const { id } = await call(method, path, { json: Object.fromEntries(filled) });
    announce(say("reported"));
    location.hash = `#/cases/${id}`;
  });
  show(main, make("h1", {}, say("newCase")), make("p", { class: "lead" }, say("newWords")), form);
}

export async function oneCase(main, { user, announce }, id) {
  const path = `/api/portal/cases/${encodeURIComponent(id)}`;
  const files = `${path}/files/attachments`;
  const [found, attached] = await Promise.all([call("GET", path, { query: { lcid: lcid() } }), call("GET", files)]);
  const isOwn = found.customer.id === user.id && found.state === OPEN;
  const again = () => oneCase(main, { user, announce }, id);
  show(
    main,
    make("p", {}, make("a", { href: "#/cases" }, `← ${say("toCases")}`)),
    make("div", { class: "head" }, make("h1", {}, found.title), status(found)),
    make("dl", { class: "facts" }, facts(found)),
    make("section", { class: "panel" }, make("h2", {}, say("description")), make("p", { class: "text" }, found.description ?? make("span", { class: "soft" }, say("noDescription")))),
    make(
      "section",
      { class: "panel", "aria-labelledby": "attachments" },
      make("h2", { id: "attachments" }, say("attachments")),
      attached.length === 0
        ? make("p", { class: "soft" }, say("noAttachments"))
        : make("ul", { class: "files" }, attached.map((file) => fileLine(files, file, announce))),
      isOwn ? sendForm(files, announce, again) : null,
    ),
    isOwn ? closing(path, found, announce, again) : null,
  );
}

function facts(found) {
  const rows = [
    [say("number"), found.ticketNumber ?? say("noNumber")],
    [say("priority"), found.priorityLabel],
    [say("customer"), found.customer.name],
    [say("created"), day(found.createdOn)],
    [say("changed"), day(found.modifiedOn)],
  ];
  return rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value ?? "")));
}

function fileLine(files, file, announce) {
  const get = () => download(`${files}/${file.id}`, file.fileName).catch((problem) => announce(problem.message, true));
  const button = make("button", { type: "button", class: "plain", onclick: get, "aria-label": say("getFile", file.fileName) }, file.fileName);
  return make("li", {}, button, make("span", { class: "soft" }, `${size(file.size)} · ${day(file.createdOn)}`));
}

function sendForm(files, announce, again) {
  const file = make("input", { type: "file", name: "file", id: "field-file", accept: ".pdf,.docx,.png,.jpg,.txt", "data-hint": "hint-file", "aria-describedby": "hint-file" });
  const bar = make("progress", { max: 1, value: 0, hidden: true });
  const button = make("button", {}, say("send"));
  const label = make("label", { class: "whole" }, say("attach"), file, make("small", { id: "hint-file" }, say("attachHint")));
  const form = make("form", { class: "grid", novalidate: true }, label, bar, button);
  onSubmit(form, announce, async () => {
    const [chosen] = file.files;
    if (chosen === undefined) return file.focus();
    bar.setAttribute("aria-label", say("sending", chosen.name));
    [bar.hidden, button.disabled] = [false, true];
    try {
      await upload(files, chosen, (part) => {
        bar.value = part;
      });
    } finally {
      [bar.hidden, button.disabled] = [true, false];
    }
    await again();
    announce(say("attached", chosen.name));
  }, file);
  return form;
}

function closing(path, found, announce, again) {
  const words = make("textarea", { name: "resolution", id: "field-resolution", rows: 3, maxlength: 2000 });
  const back = make("button", { type: "button", class: "plain", onclick: () => dialog.close() }, say("back"));
  const form = make(
    "form",
    { class: "grid", novalidate: true },
    make("h2", { id: "close-title", class: "whole" }, say("closeQuestion")),
    make("p", { class: "whole soft" }, say("closeWords")),
    make("label", { class: "whole" }, say("resolution"), words),
    make("div", { class: "whole foot" }, make("button", {}, say("close")), back),
  );
  const dialog = make("dialog", { "aria-labelledby": "close-title" }, form);
  onSubmit(form, announce, async () => {
    const resolution = words.value.trim();
    await call("POST", `${path}/actions/close`, { json: resolution === "" ? {} : { resolution } });
    dialog.close();
    await again();
    announce(say("closed"));
  });
  return make("div", { class: "foot" }, make("button", { type: "button", class: "quiet", onclick: () => dialog.showModal() }, say("close")), dialog);
}

function table(rows, withCustomer) {
  const columns = [
    ["number", (row) => row.ticketNumber ?? say("noNumber")],
    ["title", (row) => make("a", { href: `#/cases/${row.id}` }, row.title)],
    ...(withCustomer ? [["customer", (row) => row.customer.name]] : []),
    ["priority", (row) => row.priorityLabel ?? ""],
    ["status", status],
    ["created", (row) => day(row.createdOn)],
  ];
  const head = make("tr", {}, columns.map(([name]) => make("th", { scope: "col" }, say(name))));
  const lines = rows.map((row) => make("tr", {}, columns.map(([name, cell]) => make("td", { "data-label": say(name), class: name }, cell(row)))));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, lines));
}

function status(row) {
  return make("span", { class: row.state === OPEN ? "badge open" : "badge" }, row.statusLabel);
}

// Do `act` when `form` is sent, once at a time, and say what was refused where it belongs: what no field is named
// for, at `control` or for all to see.
export function onSubmit(form, announce, act, control = null) {
  let busy = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    blame(form, null);
    try {
      await act();
    } catch (problem) {
      const errors = control === null ? problem.errors : [{ pointer: `/${control.name}`, message: problem.message }];
      announce(blame(form, { errors }) ? say("check") : problem.message, true);
    } finally {
      busy = false;
    }
  });
}

export function failed(place, problem, again) {
  const button = make("button", { type: "button", onclick: () => again().catch((next) => failed(place, next, again)) }, say("retry"));
  const words = problem.status === 404 ? [make("p", {}, say("missing"))] : [make("h2", {}, say("failed")), make("p", {}, problem.message), button];
  show(place, make("div", { class: "empty", role: "alert" }, words));
}
