// Calls of the API: where it is, the token, and problems as errors.

// ?api=http://127.0.0.1:8000 says where Portico runs; it must know this page's origin (CORS_ORIGINS).
const BASE = new URLSearchParams(location.search).get("api") ?? "http://127.0.0.1:8000";

let tokens = null;

export class Problem extends Error {
  constructor(body) {
    super(body.detail);
    this.code = body.code;
    this.errors = body.errors ?? [];
  }
}

export async function signIn(username, password) {
  tokens = await send("POST", "/api/token", { json: { username, password } });
}

// The answer's JSON, null where there is none. Raises Problem for everything that is refused.
export async function call(method, path, given = {}) {
  try {
    return await send(method, path, given);
  } catch (problem) {
    if (problem.code !== "invalid_token" || tokens === null) throw problem;
    // An access token lives five minutes; the refresh token brings the next pair.
    tokens = await send("POST", "/api/token/refresh", { json: { refresh: tokens.refresh } });
    return send(method, path, given);
  }
}

export function fill(path, id) {
  return path.replace("{id}", encodeURIComponent(id));
}

async function send(method, path, { json, form, query } = {}) {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  const headers = {};
  if (tokens !== null && !path.startsWith("/api/token")) headers.Authorization = `Bearer ${tokens.access}`;
  if (json !== undefined) headers["Content-Type"] = "application/json";
  // The same key when a call is repeated: what was done is not done twice.
  if (method === "POST" && !path.startsWith("/api/token")) headers["Idempotency-Key"] = crypto.randomUUID();
  const body = json === undefined ? form : JSON.stringify(json);
  const answer = await fetch(url, { method, headers, body });
  if (!answer.ok) throw new Problem(await answer.json());
  return answer.status === 204 ? null : answer.json();
}
