// Calls of the API: JSON, files on their way up and down, and problems as errors.

import { Refused, accessToken, isSignedIn, reach, renew } from "./session.js";
import { settings } from "./settings.js";
import { say } from "./texts.js";

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? `The answer was ${status}.`);
    this.status = status;
    this.code = body.code;
    this.errors = body.errors ?? [];
  }
}

// The answer's JSON, null where there is none. Raises Problem for everything that is refused.
export async function call(method, path, given = {}) {
  const answer = await sent(method, path, given);
  return answer.status === 204 ? null : answer.json();
}

// Save the file at `path` under its `name`.
export async function download(path, name) {
  const answer = await sent("GET", path, { accept: "*/*" });
  const url = URL.createObjectURL(await answer.blob());
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// Send a file. `progress` is told the part that has gone, from 0 to 1: fetch could not tell.
export async function upload(path, file, progress) {
  const key = crypto.randomUUID();
  return again(
    () =>
      new Promise((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open("POST", settings.api + path);
        for (const [name, value] of Object.entries(headers("application/json", key))) {
          request.setRequestHeader(name, value);
        }
        request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
        request.onerror = () => reject(new Error(say("unreachable")));
        request.onload = () => {
          const body = JSON.parse(request.responseText || "{}");
          if (request.status < 400) resolve(body);
          else reject(new Problem(request.status, body));
        };
        const form = new FormData();
        form.append("file", file);
        request.send(form);
      }),
  );
}

function sent(method, path, { json, query, accept = "application/json" } = {}) {
  const url = new URL(settings.api + path);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, value);
  }
  // The same key when a call is repeated: what was done is not done twice.
  const key = method === "POST" ? crypto.randomUUID() : null;
  return again(async () => {
    const own = headers(accept, key);
    if (json !== undefined) own["Content-Type"] = "application/json";
    const body = json === undefined ? undefined : JSON.stringify(json);
    const answer = await reach(url, { method, headers: own, body });
    if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})));
    return answer;
  });
}

function headers(accept, key) {
  return {
    Accept: accept,
    ...(isSignedIn() && { Authorization: `Bearer ${accessToken()}` }),
    ...(key !== null && { "Idempotency-Key": key }),
  };
}

// An access token lives for minutes: where it has expired, the next one repeats the call.
async function again(act) {
  try {
    return await act();
  } catch (problem) {
    if (problem.code !== "invalid_token") throw problem;
    await renew().catch((error) => {
      if (error instanceof Refused) window.dispatchEvent(new Event("signed-out"));
      throw error;
    });
    return act();
  }
}
