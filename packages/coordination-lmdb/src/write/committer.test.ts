// An engine whose disk has failed refuses everything from then on, and never answers a write that it gets after that: a caller that waits for
// it waits forever. So after a failure it must be asked first.

import { LogicalTime, RunId, ShardId, TenantId } from "@gossip/contracts";
import type { CommitAnswer, UpdateShardSet } from "@gossip/coordination";
import { makeRun, makeShard } from "@gossip/tools/store-model";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Committer } from "./committer.ts";
import { RecordRows } from "../read/record-rows.ts";
import { makeRows, type TemporaryRows } from "../temporary-store.fixture.ts";

const tenant = TenantId.ZERO;
const run = RunId.fromRaw(1n);
const shard = ShardId.fromRaw(0n);
const PANIC = Object.assign(new Error("the engine has given up"), { code: -30795 });

let temporary: TemporaryRows;
let records: RecordRows;
let committer: Committer;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval"] });
  temporary = await makeRows();
  records = new RecordRows(temporary.rows);
  committer = new Committer(temporary.rows, records, { folder: "/", maxSize: undefined });
  const created = [makeShard(tenant, run, shard, "a")];
  const limits = { maxShardsPerTenant: 9, maxShardsTotal: 9 };
  await committer.commit([
    { kind: "PutRun", tenant, run, guard: undefined, after: makeRun(tenant, run), created, limits, noShardsIn: [] },
  ]);
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await temporary.dispose();
});

async function checkpoint(): Promise<CommitAnswer> {
  temporary.rows.refresh();
  const { record: before, version: guard } = records.readShard({ tenant, run }, shard)!;
  const after = { ...before, lastTime: LogicalTime.fromRaw(before.lastTime + 1n) };
  const set: UpdateShardSet = {
    kind: "UpdateShard",
    tenant,
    run,
    shard: { guard, before, after },
    runGuard: undefined,
    hintAt: undefined,
  };
  return (await committer.commit([set]))[0]!;
}

/** From now on the engine refuses every read, as it does every write. */
function breakEngine(): ReturnType<typeof vi.spyOn> {
  vi.spyOn(temporary.rows, "has").mockImplementation(() => {
    throw PANIC;
  });
  return vi.spyOn(temporary.rows, "together");
}

test("the engine is not checked right after a successful write", async () => {
  await checkpoint();
  breakEngine();
  expect(await checkpoint()).toMatchObject({ kind: "Committed" });
});

test.each<{ readonly name: string; readonly happens: () => void }>([
  { name: "a write of ours has failed", happens: () => temporary.rows.writes.noteCommit(undefined) },
  {
    name: "the last check was long ago, so that a write of another thread may have failed",
    happens: () => void vi.advanceTimersByTime(1000),
  },
])("the engine is checked, and gets no write, if $name", async ({ happens }) => {
  await checkpoint();
  const together = breakEngine();
  happens();
  expect(await checkpoint()).toMatchObject({
    kind: "Failed",
    error: { code: "MDB_PANIC", message: "a write to the disk failed before, and the store must be opened again" },
  });
  expect(together).not.toHaveBeenCalled();
});

test("a write that was pending when another thread broke the engine has an unknown outcome", async () => {
  await checkpoint();
  const together = breakEngine().mockReturnValue(new Promise(() => undefined));
  const answer = checkpoint();
  await vi.waitFor(() => expect(together).toHaveBeenCalled());
  await vi.advanceTimersByTimeAsync(5000);
  expect(await answer).toMatchObject({ kind: "Unknown", error: { code: "MDB_PANIC" } });
});

test("a write that is still pending has an unknown outcome, even if the engine has recovered meanwhile", async () => {
  await checkpoint();
  const together = vi.spyOn(temporary.rows, "together").mockReturnValue(new Promise(() => undefined));
  const answer = checkpoint();
  await vi.waitFor(() => expect(together).toHaveBeenCalled());
  const full = Object.assign(new Error("no slot is free"), { code: -30790 });
  vi.spyOn(temporary.rows, "has").mockImplementationOnce(() => {
    throw full;
  });
  await vi.advanceTimersByTimeAsync(5000);
  expect(await answer).toMatchObject({ kind: "Unknown", error: { code: "MDB_READERS_FULL" } });
});

test("a write that the engine refused has failed if the engine still works", async () => {
  await checkpoint();
  vi.spyOn(temporary.rows, "together").mockReturnValue(
    Promise.reject(Object.assign(new Error("full"), { code: -30792 })),
  );
  expect(await checkpoint()).toMatchObject({ kind: "Failed", error: { code: "MDB_MAP_FULL" } });
});

test("a slow write is awaited", async () => {
  await checkpoint();
  const { rows } = temporary;
  const together = rows.together.bind(rows);
  let letGo: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  vi.spyOn(rows, "together").mockImplementation((write) =>
    Promise.all([together(write), gate]).then(([isMade]) => isMade),
  );
  const answer = checkpoint();
  await vi.advanceTimersByTimeAsync(60_000);
  letGo();
  expect(await answer).toMatchObject({ kind: "Committed" });
});
