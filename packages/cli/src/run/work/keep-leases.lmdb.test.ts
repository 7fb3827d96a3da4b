// A handler that computes for seconds stops every timer of its process, renewals among them: its shard goes to another
// worker, and its work is done twice. A thread with a store of its own prevents that. So this test uses a real store, and a
// loop that really stands still.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { unwrap } from "@gossip/stdx";
import { iterableSource, runWorkers, startRun, type KeepLeases, type WorkerEvent } from "@gossip/worker";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CountedKeeperOptions } from "./counted-keeper.fixture.ts";

/** The keeper renews after half of it. The other half is longer than a busy machine keeps a thread or a disk waiting. */
const LEASE_MS = 6000;
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

/** Stand still until so many commits were counted. */
function blockUntil(commits: SharedArrayBuffer, wanted: number): void {
  const count = new Int32Array(commits);
  for (let now = Atomics.load(count, 0); now < wanted; now = Atomics.load(count, 0)) Atomics.wait(count, 0, now);
}

async function workWithBlock(keepLeases: KeepLeases | undefined, stand: () => void, leaseMs = LEASE_MS) {
  const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
  const source = iterableSource({ name: "numbers", items: [1, 2, 3, 4, 5], keyOf: (n) => Uint8Array.of(n) });
  unwrap(await startRun({ coordinator, run: RUN, source, shardCount: 1, config: { leaseDuration: BigInt(leaseMs) } }));
  const events: WorkerEvent[] = [];
  const seen: number[] = [];
  const summary = await runWorkers({
    coordinator,
    run: RUN,
    source,
    process: ({ value }) => {
      if (value === 3 && !seen.includes(3)) stand();
      seen.push(value);
    },
    onEvent: (event) => void events.push(event),
    ...(keepLeases === undefined ? {} : { keepLeases }),
  });
  return { summary, events, seen };
}

describe("a handler that blocks the loop for longer than its lease", () => {
  test("keeps its shard if a thread renews the lease, and is reported", async () => {
    const commits = new SharedArrayBuffer(4);
    const options: CountedKeeperOptions = { address: { kind: "lmdb", path: folder }, tso: undefined, commits };
    const keepLeases = {
      module: new URL("./counted-keeper.fixture.ts", import.meta.url),
      options,
      execArgv: ["--import", REGISTER, "--conditions=@gossip/source"],
    };

    // Each renewal comes half a lease after the one before, so after two the lease would have ended without them.
    const { summary, events, seen } = await workWithBlock(keepLeases, () => blockUntil(commits, 2));

    expect(events.filter(({ kind }) => kind === "KeeperFailed")).toEqual([]);
    expect(summary).toMatchObject({
      items: 5,
      stopped: { kind: "Done" },
      shards: { claimed: 1, completed: 1, lost: 0 },
    });
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    const blocked = events.filter((event): event is WorkerEvent<"LoopBlocked"> => event.kind === "LoopBlocked");
    expect(blocked).not.toEqual([]);
  });

  test("loses it otherwise, without a crash: the items are done again", async () => {
    const { summary, seen } = await workWithBlock(undefined, () => block(1.25 * LEASE_MS));

    expect(summary).toMatchObject({ stopped: { kind: "Done" }, shards: { claimed: 2, completed: 1, lost: 1 } });
    expect(new Set(seen)).toEqual(new Set([1, 2, 3, 4, 5]));
    expect(seen.length).toBeGreaterThan(5);
  });
});

test("a thread that cannot be started is reported, and the work goes on without it", async () => {
  const { summary, events } = await workWithBlock(
    {
      module: new URL("../../no-such-module.ts", import.meta.url),
      execArgv: ["--import", REGISTER, "--conditions=@gossip/source"],
    },
    () => block(1),
  );

  expect(events).toContainEqual(expect.objectContaining({ kind: "KeeperFailed" }));
  expect(summary).toMatchObject({ items: 5, stopped: { kind: "Done" } });
});

test("with a long lease the work does not wait until the thread has opened its store", async () => {
  // First: an item was begun. Second: the thread has seen that.
  const flags = new SharedArrayBuffer(8);
  const module = join(folder, "late-keeper.mjs");
  await writeFile(
    module,
    `export function openStore(shared) {
      const flags = new Int32Array(shared);
      Atomics.wait(flags, 0, 0);
      Atomics.store(flags, 1, 1);
      return { coordinator: { renew() {} } };
    }`,
  );
  const begin = (): void => {
    Atomics.store(new Int32Array(flags), 0, 1);
    Atomics.notify(new Int32Array(flags), 0);
  };
  const execArgv = ["--import", REGISTER, "--conditions=@gossip/source"];
  const { summary, events } = await workWithBlock({ module, options: flags, execArgv }, begin, 60_000);

  expect(events.filter(({ kind }) => kind === "KeeperFailed")).toEqual([]);
  expect(summary).toMatchObject({ items: 5, stopped: { kind: "Done" } });
  expect([...new Int32Array(flags)]).toEqual([1, 1]);
});
