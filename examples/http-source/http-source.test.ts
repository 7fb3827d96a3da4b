// The tutorial is copied from this example. A source that misses a document, lists one twice or gives up on a busy server
// would be copied too.
import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { runWorkers, startRun } from "@gossip/worker";
import { describeSource } from "@gossip/worker/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { httpSource } from "./http-source.ts";
import { startListingServer, type ListingServer } from "./listing-server.fixture.ts";

const DOCUMENTS = 130;

let server: ListingServer;
beforeAll(async () => {
  server = await startListingServer(DOCUMENTS);
});
afterAll(() => server.close());

const keysOf = (ids: readonly string[]) => ids.map((id) => Buffer.from(id, "latin1"));

describeSource("documents over HTTP", () => ({ source: httpSource(server.url), keys: keysOf(server.ids) }), {
  describe,
  expect,
  test,
});

test("workers process every document once, though the server is busy", async () => {
  const source = httpSource(server.url);
  const coordinator = new Coordinator({ store: new MemoryStore(), clock: systemClock(Date.now) });
  const run = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
  unwrap(await startRun({ coordinator, run, source, shardCount: 8, config: { leaseDuration: 10_000n } }));
  server.busyCount = 3;
  const seen: string[] = [];

  const summary = await runWorkers({
    coordinator,
    run,
    source,
    concurrency: 4,
    process: ({ id, size }) => {
      expect(size).toBe(id.charCodeAt(0));
      seen.push(id);
    },
  });

  expect(summary).toMatchObject({ items: DOCUMENTS, stopped: { kind: "Done" }, shards: { parked: 0 } });
  expect(seen.toSorted()).toEqual(server.ids);
});
