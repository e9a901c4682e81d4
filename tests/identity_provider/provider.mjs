// An OpenID provider on loopback, for tests: node provider.mjs FOLDER, where FOLDER/node_modules has oidc-provider.
//
// Its first line says where it is: {"issuer": …, "control": …}. What it knows is set with PUT at `control`:
//   clients    as in RFC 7591                        users      claims by the name that is typed to log in
//   thin       whether claims are at userinfo alone  twist      {claims, header} that ID tokens are signed with instead
// POST /rotate makes new keys sign, the old ones stay published; POST /forget publishes the new ones alone.
// POST /stop and /start close and open its port. POST /sign answers a token of any claims.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';

const folder = `${process.argv[2]}/node_modules`;
const from = (path) => import(pathToFileURL(`${folder}/${path}`));
const { default: Provider } = await from('oidc-provider/lib/index.js');
const { SignJWT, decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, importJWK } = await from(
  'jose/dist/webapi/index.js',
);

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const SCOPES = {
  openid: ['sub', 'groups', 'roles', 'realm_access', '_claim_names', 'https://example.org/groups'],
  profile: ['name', 'given_name', 'family_name', 'preferred_username'],
  email: ['email', 'email_verified'],
};
const NOTHING_SET = { clients: [], users: {}, thin: false, twist: null };

let generation = 0;
let keys = [];
let settings = NOTHING_SET;
let answer;

async function newKeys() {
  generation += 1;
  const made = ALGORITHMS.map(async (alg) => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: `${alg}-${generation}` };
  });
  return Promise.all(made);
}

// Answers with the port that the listener has, which stays the same when it is closed and opened again.
const provided = createServer((request, response) => answer(request, response));
provided.listen(0, '127.0.0.1');
await once(provided, 'listening');
const { port } = provided.address();
const issuer = `http://127.0.0.1:${port}`;

function account(ctx, id) {
  const claims = settings.users[id];
  return claims && { accountId: id, claims: async () => ({ ...claims, sub: claims.sub ?? id }) };
}

// Nobody is asked whether a client may know what it asks for.
async function grant(ctx) {
  const made = new ctx.oidc.provider.Grant({
    clientId: ctx.oidc.client.clientId,
    accountId: ctx.oidc.session.accountId,
  });
  made.addOIDCScope(Object.keys(SCOPES).concat('offline_access').join(' '));
  for (const resource of [ctx.oidc.params.resource ?? []].flat()) made.addResourceScope(resource, 'api');
  await made.save();
  return made;
}

function build() {
  const provider = new Provider(issuer, {
    clients: settings.clients,
    jwks: { keys },
    claims: SCOPES,
    conformIdTokenClaims: settings.thin,
    scopes: ['openid', 'offline_access', 'profile', 'email'],
    cookies: { keys: ['only of tests'] },
    enabledJWA: { idTokenSigningAlgValues: ALGORITHMS },
    findAccount: account,
    loadExistingGrant: grant,
    interactions: { url: (ctx, interaction) => `/log-in/${interaction.uid}` },
    rotateRefreshToken: true,
    clientBasedCORS: () => true,
    ttl: { Session: 3600, Grant: 3600, Interaction: 600, AccessToken: 600, IdToken: 600, RefreshToken: 3600 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource: signOutPage },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource, client) => ({
          scope: 'api',
          audience: resource,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: client.idTokenSignedResponseAlg } },
        }),
      },
    },
    extraTokenClaims: (ctx, token) => ({ ...settings.users[token.accountId], sub: undefined }),
    renderError: (ctx, out) => page(ctx, `<h1>Not possible</h1><p>${out.error}: ${out.error_description}</p>`),
  });
  provider.use(async (ctx, next) => {
    if (ctx.path.startsWith('/log-in/')) await logIn(provider, ctx);
    else await next();
    if (settings.twist && ctx.oidc?.route === 'token' && ctx.body.id_token) {
      ctx.body = { ...ctx.body, id_token: await twisted(ctx.body.id_token) };
    }
  });
  answer = provider.callback();
}

function page(ctx, body) {
  ctx.type = 'html';
  ctx.body = `<!DOCTYPE html><html lang="en"><title>Test provider</title>${body}</html>`;
}

function signOutPage(ctx, form) {
  const button = '<button form="op.logoutForm" name="logout" value="yes">Sign out here too</button>';
  page(ctx, `<h1>Test provider</h1>${form}${button}`);
}

async function logIn(provider, ctx) {
  const { params } = await provider.interactionDetails(ctx.req, ctx.res);
  const name = ctx.method === 'POST' ? new URLSearchParams(await text(ctx.req)).get('user') : params.login_hint;
  ctx.respond = ctx.method === 'GET' && !name;
  if (!name) {
    page(ctx, '<h1>Test provider</h1><form method="post"><input name="user" aria-label="User" autofocus></form>');
    return;
  }
  const known = settings.users[name];
  const result = known ? { login: { accountId: name }, consent: {} } : { error: 'access_denied' };
  await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
}

async function twisted(token) {
  const { claims = {}, header = {} } = settings.twist;
  const all = { ...decodeJwt(token), ...claims };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  return sign(kept, { ...decodeProtectedHeader(token), ...header });
}

async function sign(claims, header) {
  if (header.alg === 'none' || header.alg.startsWith('HS')) {
    const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part(header)}.${part(claims)}.`;
  }
  const key = keys.find((each) => each.alg === header.alg);
  return new SignJWT(claims)
    .setProtectedHeader({ kid: key.kid, ...header })
    .sign(await importJWK(key, header.alg));
}

async function text(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

const controls = {
  'PUT /': (given) => {
    settings = { ...NOTHING_SET, ...given };
    build();
  },
  'POST /rotate': async () => {
    keys = [...(await newKeys()), ...keys].slice(0, 2 * ALGORITHMS.length);
    build();
  },
  'POST /forget': () => {
    keys = keys.slice(0, ALGORITHMS.length);
    build();
  },
  'POST /stop': () => {
    provided.close();
    provided.closeAllConnections();
  },
  'POST /start': async () => {
    if (provided.listening) return;
    provided.listen(port, '127.0.0.1');
    await once(provided, 'listening');
  },
  'POST /sign': async ({ claims, header }) => ({ token: await sign(claims, header) }),
};

const control = createServer(async (request, response) => {
  try {
    const given = JSON.parse((await text(request)) || '{}');
    const said = await controls[`${request.method} ${request.url}`](given);
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(said ?? {}));
  } catch (error) {
    response.writeHead(500).end(String(error.stack));
  }
});

keys = await newKeys();
build();
control.listen(0, '127.0.0.1');
await once(control, 'listening');
console.log(JSON.stringify({ issuer, control: `http://127.0.0.1:${control.address().port}` }));
// Ends with whoever started it.
process.stdin.resume().on('end', () => process.exit(0));
