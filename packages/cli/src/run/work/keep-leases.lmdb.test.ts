// A handler that computes for seconds stops every timer of its process, renewals among them: its shard goes to somebody else
// and its work is done twice. Only a store that a second thread can open can be kept from that, so this is tried on a real one, and
// with a loop that really stands still.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { unwrap } from "@gossip/stdx";
import { iterableSource, runWorkers, startRun, type KeepLeases, type WorkerEvent } from "@gossip/worker";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KeepLeasesOptions } from "./keep-leases.ts";

/** Longer than a busy machine keeps a thread, or a disk its store, waiting. */
const LEASE_MS = 4000;
const RUN = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const REGISTER = new URL("../../../../../tools/ts/register.mjs", import.meta.url).href;

let folder: string;
let store: LmdbStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gossip-keep-leases-"));
  store = unwrap(await openLmdbStore({ path: folder }));
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** Stand still, as a long computation does: nothing of this thread runs meanwhile. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function workWithBlock(keepLeases: KeepLeases | undefined, blockMs: number) {
  const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
  const source = iterableSource({ name: "numbers", items: [1, 2, 3, 4, 5], keyOf: (n) => Uint8Array.of(n) });
  unwrap(await startRun({ coordinator, run: RUN, source, shardCount: 1, config: { leaseDuration: BigInt(LEASE_MS) } }));
  const events: WorkerEvent[] = [];
  const seen: number[] = [];
  const summary = await runWorkers({
    coordinator,
    run: RUN,
    source,
    process: ({ value }) => {
      if (value === 3 && !seen.includes(3)) block(blockMs);
      seen.push(value);
    },
    onEvent: (event) => void events.push(event),
    ...(keepLeases === undefined ? {} : { keepLeases }),
  });
  return { summary, events, seen };
}

describe("a handler that blocks the loop for longer than its lease", () => {
  test("keeps its shard where a thread renews it, and is told of", async () => {
    const options: KeepLeasesOptions = { address: { kind: "lmdb", path: folder }, tso: undefined };
    const keepLeases = {
      module: new URL("./keep-leases.ts", import.meta.url),
      options,
      execArgv: ["--import", REGISTER, "--conditions=@gossip/source"],
    };

    const { summary, events, seen } = await workWithBlock(keepLeases, 1.75 * LEASE_MS);

    expect(events.filter(({ kind }) => kind === "KeeperFailed")).toEqual([]);
    expect(summary).toMatchObject({
      items: 5,
      stopped: { kind: "Done" },
      shards: { claimed: 1, completed: 1, lost: 0 },
    });
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    const blocked = events.filter((event): event is WorkerEvent<"LoopBlocked"> => event.kind === "LoopBlocked");
    expect(Math.max(...blocked.map(({ ms }) => ms))).toBeGreaterThan(1.5 * LEASE_MS);
  });

  test("loses it where nobody does, which is no crash: the items are done again", async () => {
    const { summary, seen } = await workWithBlock(undefined, 1.25 * LEASE_MS);

    expect(summary).toMatchObject({ stopped: { kind: "Done" }, shards: { claimed: 2, completed: 1, lost: 1 } });
    expect(new Set(seen)).toEqual(new Set([1, 2, 3, 4, 5]));
    expect(seen.length).toBeGreaterThan(5);
  });
});

test("a thread that cannot be started is told of, and the work goes on without it", async () => {
  const { summary, events } = await workWithBlock(
    {
      module: new URL("../../no-such-module.ts", import.meta.url),
      execArgv: ["--import", REGISTER, "--conditions=@gossip/source"],
    },
    1,
  );

  expect(events).toContainEqual(expect.objectContaining({ kind: "KeeperFailed" }));
  expect(summary).toMatchObject({ items: 5, stopped: { kind: "Done" } });
});
