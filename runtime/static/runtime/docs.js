"use strict";

// Swagger UI for the reader: the modules they may see, and the document loaded again when they sign in or out.

const page = document.getElementById("swagger-ui");
const moduleChoice = document.getElementById("module");
// Only there where the API has texts in several languages.
const languageChoice = document.getElementById("language");
const reader = document.getElementById("reader");
const SIGNED_OUT = reader.innerHTML;
const mostShown = Number(page.dataset.mostShown);
const finder = document.getElementById("finder");
const wanted = document.getElementById("wanted");

// What can be shown before anything is known: a way to sign in.
const NOTHING = {
  openapi: "3.1.0",
  info: { title: "Portico", version: "1" },
  paths: {},
  components: {
    securitySchemes: {
      account: { type: "oauth2", flows: { password: { tokenUrl: "/api/token", refreshUrl: "/api/token/refresh", scopes: {} } } },
      bearer: { type: "http", scheme: "bearer" },
    },
  },
};

let token = null;
let endpoints = 0;
// The document as it was got, and how many were asked for: a late answer is not shown in the place of a newer one.
let whole = NOTHING;
let asked = 0;

function follow(dark) {
  document.documentElement.classList.toggle("dark-mode", dark);
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");
follow(dark.matches);
dark.addEventListener("change", (event) => follow(event.matches));

function documentUrl() {
  const asked = new URLSearchParams(languageChoice ? { lcid: languageChoice.value } : {});
  if (moduleChoice.value) asked.set("module", moduleChoice.value);
  const query = asked.toString();
  return "/api/openapi.json" + (query ? "?" + query : "");
}

function headers() {
  return token ? { Authorization: "Bearer " + token } : {};
}

function offer(modules) {
  const before = moduleChoice.value;
  endpoints = modules.reduce((sum, module) => sum + module.endpoints, 0);
  const options = modules.map((module) => new Option(module.title || module.name, module.name));
  // All of a large API is more than a page can hold.
  if (endpoints <= mostShown || options.length === 0) options.unshift(new Option("All", ""));
  moduleChoice.replaceChildren(...options);
  if (options.some((option) => option.value === before)) moduleChoice.value = before;
}

async function load() {
  const answer = await fetch("/api/schema/modules" + (languageChoice ? "?lcid=" + languageChoice.value : ""), { headers: headers() });
  if (answer.status === 401) {
    if (token) return signedOut("Your token has expired. <strong>Authorize</strong> again to see what your roles may call.");
    reader.innerHTML = "This API shows itself to callers with a token only. <strong>Authorize</strong> to see it.";
    return ui.specActions.updateSpec(JSON.stringify(NOTHING));
  }
  if (answer.ok) offer((await answer.json()).modules);
  return show();
}

async function show() {
  const url = documentUrl();
  const turn = ++asked;
  document.getElementById("json").href = url;
  document.getElementById("yaml").href = url.replace(".json", ".yaml");
  const answer = await fetch(url, { headers: headers() });
  if (turn !== asked) return;
  // Descriptions are made by another process: it says when to ask again.
  if (answer.status === 503) return void setTimeout(show, 1000 * Number(answer.headers.get("Retry-After") || 3));
  if (!answer.ok) return;
  const found = await answer.json();
  if (turn !== asked) return;
  whole = found;
  ui.specActions.updateUrl(url);
  draw();
}

// Swagger UI takes minutes for thousands of operations: it gets the first of those that are looked for.
function draw() {
  const text = wanted.value.trim().toLowerCase();
  const all = [];
  for (const [path, operations] of Object.entries(whole.paths)) {
    for (const [method, operation] of Object.entries(operations)) all.push([path, method, operation]);
  }
  const matching = all.filter(([path, , { summary }]) => (path + " " + summary).toLowerCase().includes(text));
  const shown = matching.slice(0, mostShown);
  finder.hidden = all.length <= mostShown;
  document.getElementById("count").textContent = shown.length + " of " + matching.length + " operations";
  const paths = {};
  for (const [path, method, operation] of shown) (paths[path] ??= {})[method] = operation;
  const used = new Set(shown.flatMap(([, , { tags }]) => tags));
  ui.specActions.updateSpec(JSON.stringify({
    ...whole,
    tags: whole.tags.filter((tag) => used.has(tag.name)),
    paths,
    components: { ...referred(paths), securitySchemes: whole.components.securitySchemes },
  }));
}

// The components that `value` refers to, and those that these refer to.
function referred(value) {
  const components = {};
  const open = [value];
  while (open.length) {
    for (const [, kind, name] of JSON.stringify(open.pop()).matchAll(/"#\/components\/([^/"]+)\/([^"]+)"/g)) {
      components[kind] ??= {};
      if (name in components[kind]) continue;
      components[kind][name] = whole.components[kind][name];
      open.push(components[kind][name]);
    }
  }
  return components;
}

function signedIn(access) {
  token = access;
  reader.textContent = "Signed in: this is what your roles may call.";
  return load();
}

function signedOut(words) {
  token = null;
  reader.innerHTML = words || SIGNED_OUT;
  return load();
}

function tokenIn(authorized) {
  for (const { token: granted, value } of Object.values(authorized)) {
    const found = granted ? granted.access_token : value;
    if (found) return found;
  }
  return null;
}

function reloading() {
  const then = (act) => (original) => (...given) => {
    const result = original(...given);
    act(...given);
    return result;
  };
  const enter = then((given) => {
    const found = tokenIn(given.auth ? { account: { token: given.token } } : given);
    if (found) signedIn(found);
  });
  // Swagger UI would begin with the token, below what most people have.
  const begin = then((shown) => shown && requestAnimationFrame(() => document.getElementById("oauth_username")?.focus()));
  const wrapActions = { authorizeOauth2: enter, authorize: enter, logout: then(() => signedOut()), showDefinitions: begin };
  return { statePlugins: { auth: { wrapActions } } };
}

// The path of an operation is a link inside of the button that opens the operation, to where that leads anyway. Of
// groups, whose text is one piece, the link stays.
function withoutNestedLinks() {
  const DeepLink = (Original, { React }) => (given) =>
    React.createElement(Original, { ...given, enabled: given.enabled && !Array.isArray(given.text) });
  return { wrapComponents: { DeepLink } };
}

const ui = SwaggerUIBundle({
  spec: NOTHING,
  domNode: page,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [reloading, withoutNestedLinks],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: page.dataset.expansion,
  defaultModelsExpandDepth: -1,
  persistAuthorization: false,
  validatorUrl: null,
});

let typing;
wanted.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(draw, 250);
});
moduleChoice.addEventListener("change", () => {
  wanted.value = "";
  return show();
});
languageChoice?.addEventListener("change", () => {
  // The address says what is shown, so that it can be sent to others.
  history.replaceState(null, "", "?lcid=" + languageChoice.value + location.hash);
  return load();
});
load();
