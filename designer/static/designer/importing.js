"use strict";

// A file that was chosen stays chosen: the plan comes into the page, and the same form imports it.
document.getElementById("import-form").addEventListener("submit", async (event) => {
  const form = event.target;
  const button = event.submitter;
  // What was to stay and does not any more is not in the plan on the page: another one is shown first.
  const kept = [...document.querySelectorAll("#import-plan [type=radio][value=keep]")];
  const isShown = kept.every((choice) => choice.checked || !choice.defaultChecked);
  if (button?.name === "_propose" || (button?.name === "digest" && isShown)) return;
  event.preventDefault();
  const body = new FormData(form);
  if (button?.name) body.append(button.name, button.value);
  const answer = await fetch(form.action, { method: "POST", body }).catch(() => null);
  if (!answer) return form.submit();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const plan = page.getElementById("import-plan");
  if (plan === null) return form.submit();
  document.getElementById("import-plan").replaceWith(document.adoptNode(plan));
  plan.querySelector("h2, .studio-problems")?.scrollIntoView({ block: "nearest" });
});
