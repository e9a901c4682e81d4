"use strict";
// `node server.cjs <port>`: PostGraphile on the tables of the hand-written applications, in one process.
// A token is verified on every request, and says who may create; nothing is set in the database for it, which
// would cost each request further trips there.

const { createServer } = require("node:http");
const { SafeError } = require("grafast");
const { grafserv } = require("postgraphile/grafserv/node");
const { makePgService } = require("postgraphile/adaptors/pg");
const { PostGraphileAmberPreset } = require("postgraphile/presets/amber");
const { postgraphile } = require("postgraphile");
const jwt = require("jsonwebtoken");

const { BENCH_DATABASE_URL, BENCH_SIGNING_KEY, BENCH_AUDIENCE, BENCH_ISSUER } = process.env;
const CHECKS = { algorithms: ["HS256"], audience: BENCH_AUDIENCE, issuer: BENCH_ISSUER };

function context({ node }) {
  const given = node?.req.headers.authorization ?? "";
  try {
    return { caller: jwt.verify(given.replace(/^Bearer /, ""), BENCH_SIGNING_KEY, CHECKS).sub };
  } catch {
    throw new SafeError("A valid token is needed.");
  }
}

const preset = {
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString: BENCH_DATABASE_URL, schemas: ["public"] })],
  grafast: { context, explain: false },
  grafserv: { graphiql: false, watch: false },
};

async function main() {
  const server = createServer();
  await postgraphile(preset).createServ(grafserv).addTo(server);
  server.listen(Number(process.argv[2]), "127.0.0.1");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
