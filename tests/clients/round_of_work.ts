// A full round of work with types generated from the document: compiled strictly, then run. Any surprise ends it.

import createClient from "openapi-fetch";
import type { paths } from "./portico.js";

declare const process: { argv: string[] };

const [url, token] = process.argv.slice(2) as [string, string];
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });

function must(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

const created = await client.POST("/api/sales/accounts", {
  body: { name: "Generated", revenue: 1250000.5, industry: 6 },
});
must(created.data !== undefined, created.error);
const path = { id: created.data.id };

const found = await client.GET("/api/sales/accounts/{id}", { params: { path, query: { lcid: 1031 } } });
must(found.data !== undefined, found.error);
must(found.data.name === "Generated" && found.data.revenue === 1250000.5, found.data);
must(found.data.industryLabel === "Unternehmensdienstleistungen", found.data);

const tag = found.response.headers.get("ETag") ?? "";
const changed = await client.PATCH("/api/sales/accounts/{id}", {
  params: { path, header: { "If-Match": tag } },
  body: { phone: "+49 30 1234567" },
});
must(changed.response.status === 204, changed.error);

const stale = await client.PATCH("/api/sales/accounts/{id}", {
  params: { path, header: { "If-Match": '"0"' } },
  body: { phone: null },
});
must(stale.error?.code === "version_mismatch", stale);

const sent = await client.POST("/api/sales/accounts/{id}/files/contract", {
  params: { path },
  body: { file: "" },
  bodySerializer: () => {
    const form = new FormData();
    form.append("file", new Blob(["%PDF-1.7\n%%EOF\n"], { type: "application/pdf" }), "contract.pdf");
    return form;
  },
});
must(sent.data?.size === 15, sent.error);
const file = await client.GET("/api/sales/accounts/{id}/files/contract", { params: { path }, parseAs: "text" });
must(String(file.data).startsWith("%PDF"), file.error);

const page = await client.GET("/api/sales/queries/accounts", { params: { query: { pageSize: 5 } } });
must(page.data?.data.length === 5 && page.data.hasMoreRecords, page.error);
const next = await client.GET("/api/sales/queries/accounts", {
  params: { query: { pageSize: 5, cursor: page.data.cursor ?? "" } },
});
must(next.data !== undefined && next.data.data[0]?.id !== page.data.data[0]?.id, next.error);

const wrong = await client.POST("/api/sales/accounts", { body: { name: "" } });
must(wrong.error?.errors?.[0]?.pointer === "/name", wrong);

const version = (await client.GET("/api/sales/accounts/{id}", { params: { path } })).response.headers.get("ETag");
const gone = await client.DELETE("/api/sales/accounts/{id}", {
  params: { path, header: { "If-Match": version ?? "" } },
});
must(gone.response.status === 204, gone.error);
const missing = await client.GET("/api/sales/accounts/{id}", { params: { path } });
must(missing.response.status === 404, missing);
console.log("done");
