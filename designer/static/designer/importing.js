"use strict";

// A file that was chosen stays chosen: the plan comes into the page, and the same form imports it.
document.getElementById("import-form").addEventListener("submit", async (event) => {
  const form = event.target;
  if (event.submitter?.name === "digest") return;
  event.preventDefault();
  const answer = await fetch(form.action, { method: "POST", body: new FormData(form), credentials: "same-origin" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const plan = page.getElementById("import-plan");
  if (plan === null) return form.submit();
  document.getElementById("import-plan").replaceWith(document.adoptNode(plan));
  plan.querySelector("h2, .studio-problems")?.scrollIntoView({ block: "nearest" });
});
