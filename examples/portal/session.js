// Who is signed in: the tokens, where they come from, and how they are renewed.
//
// With an issuer in settings.json, customers sign in there: authorization code with PKCE (RFC 7636). Without, with
// the API's own accounts. The access token stays in memory; the refresh token in this tab's session storage, so
// that a reload does not sign out.

import { settings } from "./settings.js";
import { say } from "./texts.js";

const REFRESH = "portal.refresh";
const FLOW = "portal.flow";

let access = null;
let renewal = null;
let discovered = null;

export const hasIssuer = Boolean(settings.issuer);

export class Refused extends Error {}

export function accessToken() {
  return access;
}

export function isSignedIn() {
  return access !== null;
}

export async function signInHere(username, password) {
  keep(await ask(`${settings.api}/api/token`, { grant_type: "password", username, password }));
}

// Leave for the issuer. `page` is the address to come back to.
export async function signInThere(page) {
  const { authorization_endpoint } = await discovery();
  const flow = { verifier: chance(), state: chance(), page };
  sessionStorage.setItem(FLOW, JSON.stringify(flow));
  const url = new URL(authorization_endpoint);
  const asked = {
    response_type: "code",
    client_id: settings.clientId,
    redirect_uri: here(),
    scope: settings.scope || "openid",
    state: flow.state,
    code_challenge: await challenge(flow.verifier),
    code_challenge_method: "S256",
    ...(settings.resource && { resource: settings.resource }),
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  location.assign(url);
}

// Go on where the page was left: with the issuer's answer in the address, or with the refresh token of this tab.
// Answers whether somebody is signed in. Raises Refused where the issuer has said no.
export async function resume() {
  const answer = new URLSearchParams(location.search);
  if (hasIssuer && (answer.has("code") || answer.has("error"))) {
    await comeBack(answer);
  } else if (sessionStorage.getItem(REFRESH) !== null) {
    await renew().catch(() => {});
  }
  return isSignedIn();
}

// The next access token. Two calls that find the old one expired renew it once.
export function renew() {
  renewal ??= renewed().finally(() => {
    renewal = null;
  });
  return renewal;
}

export async function signOut() {
  const token = sessionStorage.getItem(REFRESH);
  forget();
  if (token === null) return;
  const endpoint = hasIssuer ? (await discovery()).revocation_endpoint : `${settings.api}/api/token/revoke`;
  // Signed out here all the same: without an answer, the token ends by its age.
  if (endpoint) await ask(endpoint, { token, ...client() }).catch(() => {});
}

async function renewed() {
  const token = sessionStorage.getItem(REFRESH);
  if (token === null) throw new Refused("Sign in again.");
  const endpoint = hasIssuer ? (await discovery()).token_endpoint : `${settings.api}/api/token`;
  try {
    keep(await ask(endpoint, { grant_type: "refresh_token", refresh_token: token, ...client() }), token);
  } catch (error) {
    if (error instanceof Refused) forget();
    throw error;
  }
}

async function comeBack(answer) {
  const flow = JSON.parse(sessionStorage.getItem(FLOW) ?? "null");
  sessionStorage.removeItem(FLOW);
  history.replaceState(null, "", here() + (flow?.page ?? ""));
  // An answer to a question that this tab has not asked is somebody else's.
  if (flow === null || answer.get("state") !== flow.state) throw new Refused("This sign-in was not begun here.");
  // RFC 9207: the answer of another issuer is not taken for this one's.
  if (answer.has("iss") && answer.get("iss") !== settings.issuer) throw new Refused("Another issuer has answered.");
  if (answer.has("error")) throw new Refused(answer.get("error_description") ?? answer.get("error"));
  const { token_endpoint } = await discovery();
  const given = {
    grant_type: "authorization_code",
    code: answer.get("code"),
    redirect_uri: here(),
    code_verifier: flow.verifier,
    ...client(),
    ...(settings.resource && { resource: settings.resource }),
  };
  keep(await ask(token_endpoint, given));
}

function client() {
  return hasIssuer ? { client_id: settings.clientId } : {};
}

function keep(given, before = null) {
  access = given.access_token;
  // An issuer that does not rotate says nothing: the one before stays.
  const refresh = given.refresh_token ?? before;
  if (refresh !== null) sessionStorage.setItem(REFRESH, refresh);
}

function forget() {
  access = null;
  sessionStorage.removeItem(REFRESH);
}

// The answer of a request. What a browser says of one that has none is in its own words, which say nothing to a customer.
export async function reach(url, options) {
  return fetch(url, options).catch(() => {
    throw new Error(say("unreachable"));
  });
}

async function discovery() {
  discovered ??= reach(`${settings.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`)
    .then((answer) => {
      if (!answer.ok) throw new Error(say("unreachable"));
      return answer.json();
    })
    .catch((error) => {
      // The next one asks anew.
      discovered = null;
      throw error;
    });
  return discovered;
}

// A form to a token endpoint. Raises Refused with the sentence of the answer.
async function ask(url, fields) {
  const answer = await reach(url, { method: "POST", body: new URLSearchParams(fields) });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  const words = said.error_description ?? said.detail ?? said.error ?? `The answer was ${answer.status}.`;
  throw answer.status < 500 && answer.status !== 429 ? new Refused(words) : new Error(words);
}

function here() {
  return location.origin + location.pathname;
}

function chance() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

async function challenge(verifier) {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
}

function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
