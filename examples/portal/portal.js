// The portal: which page is shown, and who is signed in.

import { call } from "./api.js";
import { articles } from "./articles.js";
import { companyCases, failed, myCases, newCase, onSubmit, oneCase } from "./cases.js";
import { loading, make, show } from "./elements.js";
import { profile } from "./profile.js";
import { Refused, hasIssuer, isSignedIn, resume, signInHere, signInThere, signOut } from "./session.js";
import { choose, chosen, say } from "./texts.js";

const at = (id) => document.getElementById(id);
const main = at("main");

// The page behind each address, and what it is called. `forAll`: without signing in.
const PAGES = {
  articles: { show: articles, title: "articles", forAll: true },
  "sign-in": { show: signInPage, title: "signIn", forAll: true },
  cases: { show: myCases, title: "myCases" },
  new: { show: newCase, title: "newCase" },
  company: { show: companyCases, title: "companyCases" },
  profile: { show: profile, title: "profile" },
};

let user = null;
let turn = 0;
let quiet = null;

// A message that is seen and heard; one of what went wrong stays.
function announce(words, isWrong = false) {
  clearTimeout(quiet);
  at("message").textContent = words;
  at("message").classList.toggle("wrong", isWrong);
  if (!isWrong && words) quiet = setTimeout(announce, 8000, "");
}

async function know() {
  user = isSignedIn() ? (await call("GET", "/api/context")).user : null;
}

function dress() {
  document.documentElement.lang = chosen();
  at("language").value = chosen();
  at("skip").textContent = say("skip");
  const own = [["cases", "myCases"], ...(user?.managedCompanyId ? [["company", "companyCases"]] : []), ["profile", "profile"]];
  const links = [["articles", "articles"], ...(user === null ? [] : own)];
  const here = address()[0];
  show(at("menu"), links.map(([page, name]) => make("a", { href: `#/${page}`, "aria-current": page === here ? "page" : null }, say(name))));
  at("name").textContent = user?.fullName ?? "";
  const leave = make("button", { type: "button", class: "quiet", onclick: end }, say("signOut"));
  show(at("door"), user === null ? make("a", { class: "button", href: "#/sign-in" }, say("signIn")) : leave);
}

// The parts of the address behind “#/”.
function address() {
  const [page, id] = location.hash.replace(/^#\/?/, "").split("/");
  return [page || (user === null ? "articles" : "cases"), id];
}

async function go() {
  const [name, id] = address();
  const page = PAGES[name] ?? PAGES.articles;
  const mine = ++turn;
  if (!page.forAll && user === null) {
    wanted = location.hash;
    location.replace("#/sign-in");
    return;
  }
  dress();
  document.title = `${say(page.title)} · ${say("portal")}`;
  // What an older turn still brings is not shown over what was asked for since.
  const place = make("div");
  loading(place, say("loading"));
  main.replaceChildren(place);
  const given = { user, announce, renamed };
  const shown = () => (name === "cases" && id ? oneCase(place, given, id) : page.show(place, given));
  try {
    await shown();
  } catch (problem) {
    failed(place, problem, shown);
  }
  if (mine === turn && document.activeElement === document.body) main.focus({ preventScroll: true });
}

async function renamed(fullName) {
  user = { ...user, fullName };
  dress();
}

// Where to go on after signing in.
let wanted = "#/cases";

function signInPage(place) {
  const title = [make("h1", {}, say("signIn")), make("p", { class: "lead" }, say("signInWords"))];
  if (hasIssuer) {
    const leave = () => signInThere(wanted).catch((problem) => announce(problem.message, true));
    show(place, make("div", { class: "panel narrow" }, title, make("button", { type: "button", onclick: leave }, say("signInThere"))));
    return;
  }
  const form = make(
    "form",
    { class: "panel narrow" },
    title,
    make("label", {}, say("userName"), make("input", { name: "username", id: "field-username", autocomplete: "username", required: true })),
    make("label", {}, say("password"), make("input", { name: "password", id: "field-password", type: "password", autocomplete: "current-password", required: true })),
    make("button", {}, say("signIn")),
  );
  onSubmit(form, announce, async () => {
    await signInHere(form.elements.username.value, form.elements.password.value);
    await know();
    announce("");
    location.hash = wanted;
  });
  show(place, form);
}

async function end() {
  user = null;
  wanted = "#/cases";
  await signOut();
  announce("");
  location.hash = "#/articles";
  await go();
}

window.addEventListener("hashchange", go);
window.addEventListener("signed-out", () => {
  user = null;
  wanted = location.hash;
  location.hash = "#/sign-in";
  announce(say("signedOut"), true);
});
at("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
at("language").addEventListener("change", () => {
  choose(at("language").value);
  go();
});

try {
  await resume();
  await know();
} catch (problem) {
  announce(problem.message, true);
  if (problem instanceof Refused) history.replaceState(null, "", "#/sign-in");
}
await go();
