// The page runs with an operator's rights. A script that is not ours, or a page of another site around it, could use
// them.
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GossipServer } from "../server.ts";

const html = Buffer.from("<!doctype html><title>Gossip</title>");
const file = { body: html, gzip: gzipSync(html), contentType: "text/html; charset=utf-8", hash: "abc" };
let server: GossipServer;

beforeAll(async () => {
  const store = new MemoryStore();
  const clock = systemClock(Date.now);
  const coordinator = new Coordinator({ store, clock });
  const console = new Map([["index.html", file]]);
  server = unwrap(await GossipServer.start({ coordinator, clock, listen: { port: 0 }, console, insight: { store } }));
});
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${server.url}${path}`, { headers, method, redirect: "manual" });

test("a file is sent with a strict policy, packed, and not again if it is known", async () => {
  const response = await get("/console/");
  expect(await response.text()).toContain("Gossip");
  const policy = response.headers.get("content-security-policy")!;
  expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(response.headers.get("content-encoding")).toBe("gzip");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect((await get("/console/", { "if-none-match": '"abc"' })).status).toBe(304);
  const plain = await get("/console/index.html", { "accept-encoding": "identity" });
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect((await get("/console/index.html", {}, "HEAD")).status).toBe(200);
});

test("addresses without the last slash lead to the page, relative to where the server is mounted", async () => {
  for (const path of ["/", "/console"]) {
    const response = await get(path);
    expect([response.status, response.headers.get("location")]).toEqual([302, "console/"]);
  }
});

test.each(["/console/none.js", "/console/%2e%2e/x", "/console/index.html/", "/console/index.html%00"])(
  "%s is no file of the page",
  async (path) => {
    expect((await get(path)).status).toBe(404);
  },
);

test("nothing but reading, and the probes stay where they are", async () => {
  expect((await get("/console/", {}, "POST")).status).toBe(405);
  expect((await get("/healthz")).status).toBe(200);
});
