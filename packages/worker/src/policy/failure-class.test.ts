// A dependency's outage that is taken for the item's fault fails items for good that nothing is wrong with. An item's fault
// that is taken for an outage keeps a worker busy for minutes.

import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { Redacted } from "@gossip/stdx";
import { expect, test } from "vitest";
import { RetryAfter } from "../runtime/retry-after.ts";
import { nodeError } from "../sources/node-error.fixture.ts";
import { classifyFailure } from "./failure-class.ts";

function coded(code: string): Error {
  return Object.assign(new Error("no"), { code });
}

test.each<[string, unknown]>([
  ["a refused connection", coded("ECONNREFUSED")],
  ["a reset connection", coded("ECONNRESET")],
  ["an unknown host", coded("ENOTFOUND")],
  ["a resolver that is down", coded("EAI_AGAIN")],
  ["too many requests", Object.assign(new Error("no"), { status: 429 })],
  ["an unavailable service", Object.assign(new Error("no"), { statusCode: 503 })],
  ["a fetch that failed", new TypeError("fetch failed", { cause: coded("UND_ERR_SOCKET") })],
  ["every address of a host", new AggregateError([coded("ENETUNREACH"), coded("ECONNREFUSED")])],
  ["a PostgreSQL server that shuts down", coded("57P01")],
  ["a lost PostgreSQL connection", coded("08006")],
  ["an error that a source has redacted", new Error("no", { cause: new Redacted(coded("ECONNREFUSED")) })],
  ["a stale file handle, as Node throws it", nodeError("ESTALE")],
  ["a stale file handle below another error", new Error("no", { cause: nodeError("ESTALE") })],
  ["a request to wait", new RetryAfter(5)],
])("%s is the failure of a dependency", (_name, thrown) => {
  expect(classifyFailure(thrown)).toBe("Dependency");
});

test.each<[string, unknown]>([
  ["any error", new Error("no")],
  ["a missing file", coded("ENOENT")],
  ["a bad request", Object.assign(new Error("no"), { status: 400 })],
  ["an integrity violation of PostgreSQL", coded("23505")],
  ["nothing", undefined],
  ["text", "ECONNREFUSED"],
  ["a cause that is its own", selfCaused()],
])("%s is the failure of the item", (_name, thrown) => {
  expect(classifyFailure(thrown)).toBe("Item");
});

test("what Node throws is recognized: a port without a server, and a time limit that has passed", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // The server accepts and never responds.
  const limited = await fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(1) }).catch((e: unknown) => e);
  expect(classifyFailure(limited)).toBe("Dependency");
  server.close();
  await once(server, "close");
  const refused = await fetch(`http://127.0.0.1:${port}`).catch((e: unknown) => e);
  expect(classifyFailure(refused)).toBe("Dependency");
});

function selfCaused(): Error {
  const error = new Error("no");
  error.cause = error;
  return error;
}
