// A run that moves to another store must be the same there: records, op logs, versions, notes and marks. What is left
// behind, or counted twice, shows up when the run comes back.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeStore, type TemporaryStore } from "../temporary-store.fixture.ts";

const tenant = TenantId.ZERO;
const clock = new ManualClock(1_000n);
const worker = WorkerId.fromRaw(7n);
const key = (text: string) => new TextEncoder().encode(text);
/** Runs 1 to 3 move, run 4 stays. */
const isMoving = (_tenant: TenantId, run: RunId) => run <= 3n;

let source: TemporaryStore;
let target: TemporaryStore;
let before: Coordinator;
let after: Coordinator;
beforeEach(async () => {
  source = await makeStore();
  target = await makeStore();
  before = new Coordinator({ store: source.store, clock, shardCopies: 100 });
  after = new Coordinator({ store: target.store, clock, shardCopies: 100 });
  for (const run of [1n, 2n, 3n, 4n])
    unwrap(
      await before.createRunWithShards({
        tenant,
        run: RunId.fromRaw(run),
        config: { leaseDuration: 60_000n },
        shards: [
          {
            shard: ShardId.fromRaw(1n),
            spec: ShardSpec.withRange({ start: key("a"), end: key("m") }),
            cursor: Cursor.initial(),
          },
          {
            shard: ShardId.fromRaw(2n),
            spec: ShardSpec.withRange({ start: key("m"), end: key("z") }),
            cursor: Cursor.initial(),
          },
        ],
        opId: OpId.fromRaw(1n),
      }),
    );
  const ended = { tenant, run: RunId.fromRaw(3n) };
  unwrap(await before.cancelRun({ ...ended, opId: OpId.fromRaw(2n) }));
  unwrap(await before.deleteRun(ended));
});
afterEach(async () => {
  await source.dispose();
  await target.dispose();
});

async function ship(): Promise<void> {
  const transfer = target.store.transfer();
  for (const frame of source.store.transfer().frames(isMoving))
    expect(unwrap(await transfer.stage(frame, isMoving))).toBe(true);
}

const findings = async ({ store }: TemporaryStore) => unwrap(await fsck(store.inspect())).findings;

test("runs go on in the other store with the same leases, op ids and notes, and leave nothing behind", async () => {
  const session = unwrap(await before.claim({ tenant, run: RunId.fromRaw(1n), worker }));
  const opId = OpId.fromRaw(77n);
  const cursor = Cursor.withLastKey(key(session.initialSnapshot.spec.keyRangeStart[0] === 0x61 ? "b" : "n"));
  const request = { tenant, lease: session.lease, opId, cursor };
  unwrap(
    await before.checkpoint({
      ...request,
      failures: [{ key: cursor.lastKey!, attempts: 1, reason: "ItemFailed", error: "bad" }],
    }),
  );

  await ship();
  expect(unwrap(await target.store.transfer().check(isMoving))).toBe(0);
  expect(unwrap(await source.store.transfer().purge(isMoving))).toBe(true);

  expect((await findings(source)).concat(await findings(target))).toEqual([]);
  expect(unwrap(await after.checkpoint(request)).kind).toBe("Replayed");
  expect(unwrap(await after.listFailures({ tenant, run: RunId.fromRaw(1n) })).items).toHaveLength(1);
  expect(unwrap(await after.complete({ ...request, opId: OpId.fromRaw(78n), point: cursor })).kind).toBe("Executed");
  // The mark of the removed run moved along: its id is never used again.
  const again = await after.createRun({ tenant, run: RunId.fromRaw(3n), config: { leaseDuration: 1n } });
  expect(again).toMatchObject({ ok: false, error: { kind: "RunAlreadyExists" } });
  expect(unwrap(await before.listRuns({ tenant })).items.map(({ run }) => run)).toEqual([4n]);
  expect(unwrap(await after.listRuns({ tenant })).items.map(({ run }) => run)).toEqual([1n, 2n]);
});

test("frames can be repeated, and a removal can be interrupted, without counting anything twice", async () => {
  await ship();
  await ship();
  expect(await findings(target)).toEqual([]);
  let looks = 0;
  expect(unwrap(await target.store.transfer().purge(isMoving, () => ++looks > 1))).toBe(false);
  expect(unwrap(await target.store.transfer().purge(isMoving))).toBe(true);
  expect(await findings(target)).toEqual([]);
  expect([...target.store.transfer().frames(() => true)]).toEqual([]);
  // And back again, into the store that it came from.
  await ship();
  unwrap(await source.store.transfer().purge(isMoving));
  for (const frame of target.store.transfer().frames(isMoving))
    unwrap(await source.store.transfer().stage(frame, isMoving));
  expect(await findings(source)).toEqual([]);
  expect(unwrap(await before.claim({ tenant, run: RunId.fromRaw(2n), worker })).lease.fence).toBe(2n);
});

test("a damaged frame is not written, and damaged rows are found", async () => {
  const [frame] = source.store.transfer().frames(isMoving);
  const transfer = target.store.transfer();
  expect(unwrap(await transfer.stage(frame!.subarray(0, -1), isMoving))).toBe(false);
  expect(unwrap(await transfer.stage(frame!, () => false))).toBe(false);
  expect([...transfer.frames(() => true)]).toEqual([]);
  // The last row of the frame is missing: an index entry, which fsck misses.
  const rows = [...source.store.transfer().frames((_, run) => run === 1n)];
  unwrap(await transfer.stage(cutLastRow(rows[0]!), isMoving));
  expect(unwrap(await transfer.check(isMoving))).toBeGreaterThan(0);
});

/** A frame without its last row. */
function cutLastRow(frame: Uint8Array): Uint8Array {
  const view = Buffer.from(frame);
  let [at, last] = [0, 0];
  while (at < view.length) {
    last = at;
    at += 14 + view.readUInt16BE(at) + view.readUInt32BE(at + 10);
  }
  return view.subarray(0, last);
}
