// The indexes say what can be claimed and what comes next in a list. One that loses a row hides a shard from every worker
// forever; one that keeps a row too long sends them all after what is finished.

import { Cursor, LogicalTime, OpId, WorkerId, type ShardStatus } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeShard, range, shardId, time } from "../kernel/world.fixture.ts";
import { ClaimIndex } from "./claim-index.ts";
import { LeaseHeap } from "./lease-heap.ts";
import { ShardBytes } from "./shard-bytes.ts";
import { ShardOrder } from "./shard-order.ts";
import { ShardRow } from "./shard-row.ts";

const bytes = new ShardBytes(1 << 20);
const makeRow = (id: number, start = "a") => {
  const spec = bytes.packSpec(range(start, `${start}~~~~`))!;
  return new ShardRow(makeShard({ shard: shardId(id) }), spec, bytes.packCursor(Cursor.initial())!, 1);
};
const lease = (deadline: number) => ({ owner: WorkerId.fromRaw(1n), deadline: time(deadline), opId: OpId.fromRaw(1n) });

describe("LeaseHeap", () => {
  test("the first is always one whose lease ends first", () => {
    const step = fc.record({
      row: fc.integer({ min: 0, max: 9 }),
      deadline: fc.integer({ min: 1, max: 20 }),
      isRemoved: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const heap = new LeaseHeap();
        const rows = Array.from({ length: 10 }, (_, id) => makeRow(id));
        const inside = new Set<ShardRow>();
        for (const { row: index, deadline, isRemoved } of steps) {
          const row = rows[index]!;
          if (isRemoved && inside.has(row)) {
            heap.remove(row);
            inside.delete(row);
          } else {
            row.lease = lease(deadline);
            if (inside.has(row)) heap.update(row);
            else heap.push(row);
            inside.add(row);
          }
          const deadlines = [...inside].map((each) => each.lease!.deadline);
          const least = deadlines.reduce<bigint | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
          expect(heap.first?.lease?.deadline).toBe(least);
          expect(heap.size).toBe(inside.size);
        }
      }),
    );
  });
});

describe("ClaimIndex", () => {
  const change = fc.record({
    row: fc.integer({ min: 0, max: 7 }),
    status: fc.constantFrom<ShardStatus>("Active", "Active", "Active", "Done", "Parked"),
    deadline: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
    passed: fc.integer({ min: -6, max: 6 }),
    spread: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  });

  test("finds exactly the active rows without a lease, as time moves forward and back", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const index = new ClaimIndex();
        const rows = Array.from({ length: 8 }, (_, id) => makeRow(id));
        let now = 1;
        for (const { row: position, status, deadline, passed, spread } of changes) {
          const row = rows[position]!;
          row.status = status;
          row.lease = status === "Active" && deadline !== undefined ? lease(deadline) : undefined;
          index.place(row);
          now = Math.max(1, now + passed);
          const placed = rows.filter((each) => each.claimList !== "none" || each.status === "Active");
          const at = LogicalTime.fromRaw(BigInt(now));
          const known = placed.filter((each) => each.claimList !== "none");
          const free = known.filter((each) => each.status === "Active" && !each.isLeasedAt(at));
          const held = known
            .filter((each) => each.status === "Active" && each.isLeasedAt(at))
            .map((each) => each.lease!.deadline);

          const found = index.candidates(at, { limit: 100, spread });
          expect(new Set(found)).toEqual(new Set(free));
          expect(found.length).toBe(free.length);
          expect(index.candidates(at, { limit: 2, spread }).length).toBe(Math.min(2, free.length));
          const first = held.reduce<bigint | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
          expect(index.earliestDeadline(at)).toBe(first);
          expect(index.hint(at)).toEqual({ availableCount: free.length, earliestDeadline: first, isStarved: false });
        }
      }),
    );
  });

  test("a clock that steps back is shown no row that is held by it", () => {
    const index = new ClaimIndex();
    const row = makeRow(1);
    row.lease = lease(50);
    index.place(row);
    expect(index.candidates(time(50), { limit: 5, spread: 0 })).toEqual([row]);
    expect(index.candidates(time(40), { limit: 5, spread: 0 })).toEqual([]);
    expect(index.earliestDeadline(time(40))).toBe(50n);
    expect(index.hint(time(49))).toEqual({ availableCount: 0, earliestDeadline: 50n, isStarved: false });
  });
});

describe("ShardOrder", () => {
  test("lists by start and then by id, however rows come, and finds every position", () => {
    const letters = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
    const batch = fc.uniqueArray(fc.tuple(letters, fc.integer({ min: 0, max: 20 })), {
      selector: ([, id]) => id,
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 4 }), (batches) => {
        const order = new ShardOrder(bytes);
        const rows: ShardRow[] = [];
        for (const [round, starts] of batches.entries()) {
          for (const [start, id] of starts) {
            const row = makeRow(round * 100 + id, start);
            rows.push(row);
            order.add(row);
          }
          const sorted = rows.toSorted(
            (a, b) => compareBytes(bytes.viewStart(a), bytes.viewStart(b)) || (a.shard < b.shard ? -1 : 1),
          );
          expect(order.rows()).toEqual(sorted);
          for (const [index, row] of sorted.entries()) expect(order.indexAfter(order.positionOf(row))).toBe(index + 1);
        }
        expect(order.indexAfter({ keyRangeStart: new Uint8Array(0), shard: shardId(0) })).toBe(0);
        for (const row of rows) bytes.release(row.slot);
      }),
      { numRuns: 60 },
    );
  });
});

test("bytes come back as they went in, and a refusal says what fits", () => {
  const small = new ShardBytes(64);
  const packed = small.packSpec(range("a", "z", "meta"))!;
  expect(small.readSpec(packed)).toEqual(range("a", "z", "meta"));
  const cursor = Cursor.fromParts({ lastKey: new Uint8Array(20).fill(7), token: new Uint8Array(3).fill(8) });
  const first = small.packCursor(cursor)!;
  expect(small.readCursor(first)).toEqual(cursor);
  expect(small.packCursor(cursor)).toBeUndefined();
  expect(small.lastRefusal()).toEqual({ kind: "SlabFull", requested: 32, available: 16 });
  small.release(first.slot);
  expect(small.packCursor(cursor)).toBeDefined();
  expect(small.liveCount).toBe(2);
});
