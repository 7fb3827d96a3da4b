// Two processes have one folder. What one of them has been told is written, the other must see from then on, also where it has looked a moment
// before; and a guard that the other has overtaken must not hold.

import { spawnSync } from "node:child_process";
import { Cursor, RunId, ShardId } from "@gossip/contracts";
import type { RunRecord, ShardRecord, Versioned } from "@gossip/coordination";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { bound, fillStore, FILL_SHARDS, FILL_TENANT } from "./fill-store.fixture.ts";
import { makeStore, type TemporaryStore } from "./temporary-store.fixture.ts";
import { processes } from "./worker-process.fixture.ts";

const FIRST = RunId.fromRaw(1n);
const KEY = { run: FIRST, shard: ShardId.fromRaw(0n) };

let temporary: TemporaryStore;
beforeEach(async () => {
  temporary = await makeStore();
});
afterEach(() => temporary.dispose());
afterAll(() => processes.remove());

/** Let another process put runs into the folder, while this one stands still. */
function fillElsewhere(script: string, runs: number): void {
  const { status } = spawnSync(process.execPath, [
    "--no-warnings",
    script,
    JSON.stringify({ path: temporary.path, runs }),
  ]);
  expect(status).toBe(0);
}

test("a read sees what another process has just committed, in the same turn of the event loop", async () => {
  const script = await processes.prepare("./probe-store.fixture.ts");
  const { store } = temporary;
  expect(unwrap(store.readRun(FILL_TENANT, FIRST)).kind).toBe("Missing");
  fillElsewhere(script, 3);
  expect(unwrap(store.readRun(FILL_TENANT, FIRST)).kind).toBe("Found");
  expect(unwrap(store.listRuns({ tenant: FILL_TENANT, after: undefined, limit: 9 })).items.length).toBe(3);
  expect(unwrap(store.readProgress({ tenant: FILL_TENANT, run: FIRST, now: 1n as never })).active).toBe(FILL_SHARDS);
});

test("a write that another process preceded is a conflict, and its shards count against the quota", async () => {
  const script = await processes.prepare("./probe-store.fixture.ts");
  const { store } = temporary;
  fillElsewhere(script, 1);
  expect(await fillStore(store, { runs: 1, from: 1 })).toMatchObject({ made: 0, refusal: { kind: "Conflict" } });

  const run = unwrap(store.readRun(FILL_TENANT, FIRST)) as Versioned<RunRecord>;
  const { record: before, version: guard } = unwrap(store.readShard(FILL_TENANT, KEY)).shard as Versioned<ShardRecord>;
  const cursor = Cursor.withLastKey(Buffer.concat([bound(0), Buffer.of(1)]));
  const set = {
    kind: "UpdateShard",
    tenant: FILL_TENANT,
    run: FIRST,
    shard: { guard, before, after: { ...before, cursor } },
    runGuard: run.version,
    hintAt: undefined,
  } as const;
  expect(await store.commit([set])).toMatchObject([{ kind: "Committed" }]);
  expect(await store.commit([set])).toEqual([{ kind: "Conflict" }]);

  const limits = { maxShardsPerTenant: FILL_SHARDS, maxShardsTotal: FILL_SHARDS };
  const created = [{ ...before, shard: ShardId.fromRaw(99n) }];
  const put = {
    kind: "PutRun",
    tenant: FILL_TENANT,
    run: FIRST,
    guard: run.version,
    after: run.record,
    created,
    limits,
    noShardsIn: [],
  } as const;
  expect(await store.commit([put])).toEqual([
    { kind: "LimitExceeded", scope: "PerTenant", current: FILL_SHARDS, additional: 1, max: FILL_SHARDS },
  ]);
  expect(unwrap(await fsck(store.inspect())).findings).toEqual([]);
});
