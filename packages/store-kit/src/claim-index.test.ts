// A wrong answer here leaves a stale entry in a stored index: a shard that no worker finds, or that all of them find.
import { LogicalTime, ShardId } from "@gossip/contracts";
import { expect, test } from "vitest";
import { hasEntryMoved, mixOf, type IndexedShard } from "./claim-index.ts";

const lease = (deadline: bigint) => ({ deadline: LogicalTime.fromRaw(deadline) }) as IndexedShard["lease"];
const cursor = (lastKey: Uint8Array | undefined) => ({ lastKey }) as IndexedShard["cursor"];
const NONE = cursor(undefined);
const SOME = cursor(Uint8Array.of(1));

const free: IndexedShard = { status: "Active", lease: undefined, cursor: NONE };
const begun: IndexedShard = { status: "Active", lease: undefined, cursor: SOME };
const held: IndexedShard = { status: "Active", lease: lease(5n), cursor: NONE };
const advanced: IndexedShard = { status: "Active", lease: lease(5n), cursor: SOME };
const renewed: IndexedShard = { status: "Active", lease: lease(9n), cursor: NONE };
const parked: IndexedShard = { status: "Parked", lease: undefined, cursor: NONE };
const parkedBegun: IndexedShard = { status: "Parked", lease: undefined, cursor: SOME };

test("an entry moves with the status, with the deadline, and with the progress of a free shard", () => {
  const moving: readonly (readonly [IndexedShard, IndexedShard])[] = [
    [free, held],
    [held, free],
    [held, renewed],
    [free, begun],
    [held, parked],
    [parked, free],
  ];
  for (const [before, after] of moving) expect(hasEntryMoved(before, after)).toBe(true);
});

test("an entry stays during checkpoints, and while a shard is parked", () => {
  expect(hasEntryMoved(held, advanced)).toBe(false);
  expect(hasEntryMoved(free, free)).toBe(false);
  expect(hasEntryMoved(parked, parkedBegun)).toBe(false);
});

test("the mix of an id is stored, so it never changes", () => {
  const mixes = [0n, 1n, 2n, 1n << 32n, (1n << 64n) - 1n].map((raw) => mixOf(ShardId.fromRaw(raw)));
  expect(mixes).toMatchInlineSnapshot(`
    [
      0,
      1364076727,
      821347078,
      301794027,
      2980047484,
    ]
  `);
});

test("neighboring ids are spread over the whole range", () => {
  const quarters = new Set<number>();
  for (let raw = 0n; raw < 32n; raw++) quarters.add(mixOf(ShardId.fromRaw(raw)) >>> 30);
  expect(quarters.size).toBe(4);
});
