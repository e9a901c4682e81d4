// Articles: what everybody may read, without signing in.

import { call } from "./api.js";
import { failed } from "./cases.js";
import { article, loading, make, show } from "./elements.js";
import { day, say } from "./texts.js";

export async function articles(main) {
  const text = make("input", { name: "text", type: "search", maxlength: 100 });
  const form = make("form", { class: "filter", role: "search" }, make("label", {}, say("searchTitle"), text), make("button", {}, say("find")));
  const list = make("div", { class: "articles" });

  async function find() {
    loading(list, say("loading"));
    const found = await call("GET", "/api/portal/queries/articles", { query: { text: text.value } });
    show(list, found.length === 0 ? make("p", { class: "empty" }, say("noArticles")) : found.map(folded));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    find().catch((problem) => failed(list, problem, find));
  });
  show(main, make("h1", {}, say("articles")), make("p", { class: "lead" }, say("articlesWords")), form, list);
  await find();
}

function folded(found) {
  const head = make("summary", {}, make("span", { class: "title" }, found.title), make("span", { class: "soft" }, found.summary ?? ""));
  const foot = make("p", { class: "soft" }, [found.number, found.publishedOn && day(found.publishedOn)].filter(Boolean).join(" · "));
  return make("details", { class: "panel" }, head, make("div", { class: "text" }, article(found.content)), foot);
}
