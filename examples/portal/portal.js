// The page: everything it shows of accounts, it has from /api/schema.

import { call, fill, signIn } from "./api.js";
import { blame, build, read } from "./form.js";
import { show } from "./table.js";

const ENTITY = "/api/schema/entities/sales.accounts";
const QUERY = "/api/schema/queries/sales.accounts";
// Parameters of paging and sorting are no filters.
const OWN = ["pageSize", "cursor", "order", "lcid"];

const at = (id) => document.getElementById(id);
const language = at("language");

let entity = null;
let query = null;
let account = null;
let next = null;

function say(words) {
  at("message").textContent = words;
}

function button(words) {
  return Object.assign(document.createElement("button"), { textContent: words });
}

// What the API offers to who has signed in, in the language chosen.
async function describe() {
  const lcid = language.value;
  [entity, query] = await Promise.all([
    call("GET", ENTITY, { query: { lcid } }),
    call("GET", QUERY, { query: { lcid } }),
  ]);
  document.querySelector("h1").textContent = entity.pluralName;
  await build(at("create"), inputs(), button("Create"), lcid);
  await build(at("filter"), filters(), button("Find"), lcid);
  await page();
}

// Lists of further records would need a form in the form: this page goes without.
function inputs() {
  return entity.operations.create.fields.filter((field) => field.type !== "List");
}

function filters() {
  return query.call.fields.filter((field) => !OWN.includes(field.name));
}

async function page(cursor = null) {
  const given = read(at("filter"), filters());
  const paging = { pageSize: 10, ...(cursor && { cursor }) };
  const found = await call(query.call.method, query.call.path, { query: { ...given, ...paging } });
  show(at("list"), query.call.columns, found.data, language.value, choose);
  next = found.cursor;
  at("next").disabled = next === null;
  at("count").textContent = found.totalRecordCount === null ? "" : `${found.count} / ${found.totalRecordCount}`;
}

function choose(record, line) {
  account = record.id;
  for (const other of document.querySelectorAll("[aria-selected]")) other.removeAttribute("aria-selected");
  line?.setAttribute("aria-selected", "true");
  at("chosen").textContent = record.name;
  at("contract").hidden = false;
}

// Do `act` when `form` is sent, and say what was refused where it belongs.
function handle(form, act) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    blame(form, null);
    try {
      await act();
    } catch (problem) {
      blame(form, problem);
      say(problem.message);
    }
  });
}

handle(at("sign-in"), async () => {
  const { username, password } = at("sign-in").elements;
  await signIn(username.value, password.value);
  await describe();
  at("sign-in").hidden = true;
  at("work").hidden = false;
  say("");
});

handle(at("filter"), () => page());

handle(at("create"), async () => {
  const { method, path } = entity.operations.create;
  const body = read(at("create"), inputs());
  const { id } = await call(method, path, { json: body });
  at("create").reset();
  choose({ id, name: body.name });
  say(`Created ${body.name}.`);
});

handle(at("contract"), async () => {
  const { method, path } = entity.files.find((files) => files.name === "contract").upload;
  const sent = await call(method, fill(path, account), { form: new FormData(at("contract")) });
  say(`Sent ${sent.fileName}, ${sent.size} bytes.`);
});

at("first").addEventListener("click", () => page());
at("next").addEventListener("click", () => page(next));
language.addEventListener("change", () => entity && describe());
