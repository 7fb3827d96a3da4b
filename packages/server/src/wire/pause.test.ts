// A worker in another language only claims, checkpoints and completes. If a paused run still gave it shards, the pause
// would be one for some workers only.
import { RunId, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { iterableSource, startRun } from "@gossip/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WireServer } from "./wire-server.fixture.ts";

let server: WireServer;
beforeAll(async () => {
  server = await WireServer.start();
});
afterAll(() => server.close());

test("a claim of a paused run is put off, and succeeds once the run is resumed", async () => {
  const clock = systemClock(Date.now);
  const client = server.connect(new Coordinator({ store: new MemoryStore(), clock }), clock);
  const run = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
  const source = iterableSource({ name: "numbers", items: [1, 2, 3], keyOf: (n) => Uint8Array.of(n) });
  unwrap(await startRun({ coordinator: client, run, source, shardCount: 2, config: { leaseDuration: 60_000n } }));
  const claim = (by: bigint) => client.claim({ ...run, worker: WorkerId.fromRaw(by) });
  const held = unwrap(await claim(1n));

  unwrap(await client.changeRunSettings({ ...run, change: { paused: true } }));
  expect(await claim(2n)).toMatchObject({ ok: false, error: { kind: "Throttled" } });
  // What is held can be stored and released.
  expect((await held.release()).ok).toBe(true);

  unwrap(await client.changeRunSettings({ ...run, change: { paused: false } }));
  expect((await claim(2n)).ok).toBe(true);
  expect(server.defects).toEqual([]);
});
