// My profile: what the CRM knows of the caller, and what the caller may change.

import { call } from "./api.js";
import { onSubmit } from "./cases.js";
import { make, show } from "./elements.js";
import { controls, read } from "./form.js";
import { lcid, say } from "./texts.js";

export async function profile(main, { announce, renamed }) {
  const [known, { operations }] = await Promise.all([
    call("GET", "/api/portal/queries/my-profile"),
    call("GET", "/api/schema/entities/portal.profile", { query: { lcid: lcid() } }),
  ]);
  const { method, path, fields } = operations.update;
  const form = make("form", { class: "panel grid", novalidate: true }, controls(fields, known), make("button", {}, say("save")));
  onSubmit(form, announce, async () => {
    // What was left as it was is not sent: another change of it stays.
    const changed = Object.entries(read(form, fields)).filter(([name, value]) => value !== known[name]);
    if (changed.length === 0) return announce(say("unchanged"));
    await call(method, path.replace("{id}", known.id), { json: Object.fromEntries(changed) });
    Object.assign(known, Object.fromEntries(changed));
    await renamed([known.firstName, known.lastName].filter(Boolean).join(" "));
    announce(say("saved"));
  });
  show(
    main,
    make("h1", {}, say("profile")),
    make("p", { class: "lead" }, [known.company?.name, say("profileWords")].filter(Boolean).join(" · ")),
    make("p", { class: "soft" }, say("emailWords", known.email ?? "–")),
    form,
  );
}
