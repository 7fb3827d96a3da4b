// Many processes share one limit, and each sees only its own part. If the parts add up to more than the limit, a service
// is overrun; if they add up to less, or a part is lost for good, the run is slower than it may be.

import { LogicalTime, WorkerId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_NOTE_VALUE_SIZE } from "../records/note.ts";
import { decodeBook, encodeBook, MAX_BUDGET_WORKERS, type BudgetBook } from "./budget-book.ts";
import { fairSlots } from "./fair-slots.ts";
import { emptyBook, grantBudget, returnBudget, type BudgetClaim, type FleetLimits } from "./grant-budget.ts";

const TTL_MS = 5000;
const at = (ms: number): LogicalTime => LogicalTime.fromRaw(1_000_000n + BigInt(Math.round(ms)));
const worker = (n: number): WorkerId => WorkerId.fromRaw(BigInt(n));
const claimOf = (n: number, fields: Partial<BudgetClaim> = {}): BudgetClaim => ({
  worker: worker(n),
  held: 0,
  returned: 0,
  wanted: 1e9,
  slots: 0,
  slotsWanted: 0,
  ...fields,
});

function grant(book: BudgetBook, claim: BudgetClaim, limits: FleetLimits, ms: number) {
  const granted = grantBudget(book, claim, { limits, time: { now: at(ms), ttlMs: TTL_MS } });
  // What is stored is what was decided.
  expect(unwrap(decodeBook(encodeBook(granted.book)))).toEqual(granted.book);
  return granted;
}

/** What a property does with the book: some worker asks, a while later. */
const step = fc.record({
  by: fc.integer({ min: 1, max: 5 }),
  afterMs: fc.constantFrom(0, 1, 40, 500, 6000),
  kind: fc.constantFrom("renew", "renew", "renew", "return", "lost", "crash"),
  used: fc.double({ min: 0, max: 1, noNaN: true }),
  wanted: fc.constantFrom(0, 1, 7, 1e9),
  /** The clock of the coordinator that is asked. */
  skewMs: fc.constantFrom(0, 0, -300, 2000),
});

describe("items of a budget", () => {
  test("are never more than the rate allows and one budget, whatever workers do and however their clocks differ", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0.5, 3, 40),
        fc.array(step, { minLength: 1, maxLength: 60 }),
        (itemsPerSecond, steps) => {
          const limits = { itemsPerSecond, concurrency: null };
          const held = new Map<number, number>();
          let book = emptyBook(at(0));
          let [ms, started, latestMs] = [0, 0, 0];
          for (const { by, afterMs, kind, used, wanted, skewMs } of steps) {
            ms += afterMs;
            latestMs = Math.max(latestMs, ms + skewMs);
            const before = held.get(by) ?? 0;
            const use = Math.floor(before * used);
            started += use;
            const rest = before - use;
            if (kind === "crash") {
              held.delete(by);
            } else if (kind === "return") {
              const now = at(Math.max(0, ms + skewMs));
              book = returnBudget(book, { worker: worker(by), returned: rest }, { limits, now });
              held.delete(by);
            } else {
              const granted = grant(book, claimOf(by, { held: rest, wanted }), limits, Math.max(0, ms + skewMs));
              book = granted.book;
              // The worker does not learn of a grant whose answer was lost.
              held.set(by, rest + (kind === "lost" ? 0 : granted.grant.items));
            }
          }
          const most = [...held.values()].reduce((sum, count) => sum + count, started);
          // The budget: what the run may do in a second, and one item. The first item is there from the start.
          expect(most).toBeLessThanOrEqual((itemsPerSecond * latestMs) / 1000 + itemsPerSecond + 1 + 1e-6);
        },
      ),
    );
  });

  test("accrue at the rate for one worker and for many", () => {
    for (const count of [1, 4, 16]) {
      const limits = { itemsPerSecond: 100, concurrency: null };
      let book = emptyBook(at(0));
      let items = 0;
      for (let ms = 0; ms < 20_000; ms += 500)
        for (let n = 1; n <= count; n++) {
          const granted = grant(book, claimOf(n), limits, ms + (500 * n) / count);
          book = granted.book;
          items += granted.grant.items;
        }
      expect(Math.abs(items - 2000)).toBeLessThanOrEqual(0.05 * 2000);
    }
  });

  test("return when a worker stops, once, and when it crashes their place returns after a while", () => {
    const limits = { itemsPerSecond: 10, concurrency: null };
    const first = grant(emptyBook(at(0)), claimOf(1), limits, 1000);
    expect(first.grant.items).toBe(11);
    // It has everything that may be given out.
    expect(grant(first.book, claimOf(2), limits, 1500).grant).toMatchObject({ items: 0 });
    let book = returnBudget(first.book, { worker: worker(1), returned: 11 }, { limits, now: at(1000) });
    book = returnBudget(book, { worker: worker(1), returned: 11 }, { limits, now: at(1000) });
    expect(book).toMatchObject({ level: 11, entries: [] });
    expect(grant(first.book, claimOf(2), limits, 1000 + TTL_MS).grant.items).toBe(11);
  });

  test("of a slow run are announced", () => {
    const limits = { itemsPerSecond: 0.1, concurrency: null };
    const first = grant(emptyBook(at(0)), claimOf(1), limits, 0);
    expect(first.grant.items).toBe(1);
    const second = grant(first.book, claimOf(1), limits, 4000);
    expect(second.grant.items).toBe(0);
    expect(second.grant.untilItemMs).toBeCloseTo(6000);
    expect(grant(second.book, claimOf(1), limits, 10_000).grant.items).toBe(1);
  });

  test("accrue again after a clock that was an hour ahead is corrected", () => {
    const limits = { itemsPerSecond: 10, concurrency: null };
    const wrong = grant(emptyBook(at(0)), claimOf(1), limits, 3_600_000);
    const first = grant(wrong.book, claimOf(2, { wanted: 0 }), limits, 1000);
    expect(grant(first.book, claimOf(2), limits, 1000 + TTL_MS).grant.items).toBeGreaterThan(0);
  });
});

describe("slots of a budget", () => {
  test("are never more than the limit, and fair after each worker has renewed twice", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 8 }),
        (concurrency, wants) => {
          const limits = { itemsPerSecond: null, concurrency };
          const slots = wants.map(() => 0);
          const targets = wants.map(() => 0);
          let book = emptyBook(at(0));
          for (let round = 0; round < 4; round++)
            for (const [index, slotsWanted] of wants.entries()) {
              // A worker keeps no more than it should have. None has items that last.
              const kept = Math.min(slots[index]!, targets[index]!);
              const granted = grant(book, claimOf(index + 1, { slots: kept, slotsWanted }), limits, 10 * round);
              book = granted.book;
              slots[index] = granted.grant.slots;
              targets[index] = granted.grant.slotTarget;
              const inUse = book.entries.reduce((sum, entry) => sum + entry.slots, 0);
              expect(inUse).toBeLessThanOrEqual(concurrency);
            }
          expect(slots).toEqual(targets);
          expect(slots.reduce((sum, each) => sum + each, 0)).toBe(
            Math.min(
              concurrency,
              wants.reduce((sum, each) => sum + each, 0),
            ),
          );
        },
      ),
    );
  });

  test("are equal except for workers that want less, and take turns if there are too few", () => {
    const claims = [3n, 1n, 2n].map((id) => ({ id, wanted: id === 1n ? 1 : 9 }));
    const of = (limit: number, turn = 0) => [1n, 2n, 3n].map((id) => fairSlots(claims, { id, limit, turn }));
    expect(of(100)).toEqual([1, 9, 9]);
    expect(of(10)).toEqual([1, 5, 4]);
    expect([0, 1, 2, 3].map((turn) => of(2, turn))).toEqual([
      [1, 1, 0],
      [0, 1, 1],
      [1, 0, 1],
      [1, 1, 0],
    ]);
  });
});

test("the book of as many workers as it takes fits into a note, and one more is not entered", () => {
  const limits = { itemsPerSecond: 1e9, concurrency: 1_000_000 };
  let book = emptyBook(at(0));
  for (let n = 1; n <= MAX_BUDGET_WORKERS; n++)
    book = grant(
      book,
      { ...claimOf(0, { slots: 3000, slotsWanted: 999_999 }), worker: WorkerId.fromRaw(2n ** 64n - BigInt(n)) },
      limits,
      n / 3,
    ).book;
  expect(encodeBook(book).length).toBeLessThanOrEqual(MAX_NOTE_VALUE_SIZE);
  const refused = grant(book, claimOf(1), limits, 100);
  expect([refused.book.entries.length, refused.grant.items]).toEqual([MAX_BUDGET_WORKERS, 0]);
});
