// One timestamp issued twice, or one below an earlier one, is the failure that everything above the
// oracle trusts it not to have. So whole lives are tried: leaderships gained and lost, bounds that
// arrive late, clocks that jump both ways, and every answer is compared with a model that is
// written in packed bigints and shares no code with the allocator.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Epoch } from "./epoch.ts";
import { MAX_GRANT_COUNT, PHYSICAL_MS_MAX } from "./limits.ts";
import { TimestampBuf } from "./timestamp-buf.ts";
import { Timestamp } from "./timestamp.ts";
import { WindowAllocator } from "./window-allocator.ts";
import { WindowGrant } from "./window-grant.ts";

const PER_MS = BigInt(MAX_GRANT_COUNT);

/** The allocator as one packed integer, `next`, below another, the end of the durable millisecond. */
class Model {
  next = 0n;
  highWaterMs = 0n;
  epoch: bigint | undefined;

  grant(nowMs: bigint, count: bigint): bigint | "NotLeader" | "WindowExhausted" | "PhysicalMsOutOfRange" {
    if (this.epoch === undefined) return "NotLeader";
    let start = this.next / PER_MS < nowMs ? nowMs * PER_MS : this.next;
    if (start / PER_MS !== (start + count - 1n) / PER_MS) start = (start / PER_MS + 1n) * PER_MS;
    if (start / PER_MS > BigInt(PHYSICAL_MS_MAX)) return "PhysicalMsOutOfRange";
    if (start / PER_MS > this.highWaterMs) return "WindowExhausted";
    this.next = start + count;
    return start;
  }
}

// Clocks from a narrow and a wide range: near ones make rollover, exhaustion and equal readings common.
const nowMs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 90, max: 140 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 2_000_000_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: PHYSICAL_MS_MAX - 3, max: PHYSICAL_MS_MAX + 2 }) },
);
const count = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 1023 }) },
  { weight: 2, arbitrary: fc.constantFrom(MAX_GRANT_COUNT, MAX_GRANT_COUNT - 1, MAX_GRANT_COUNT / 2, 1) },
);

type Step =
  | {
      readonly kind: "grant";
      readonly form: "range" | "packed" | "into";
      readonly nowMs: number;
      readonly count: number;
    }
  | {
      readonly kind: "extend";
      readonly nowMs: number;
      readonly aheadMs: number;
      readonly extraMs: number;
      readonly stale: boolean;
    }
  | { readonly kind: "gain"; readonly nowMs: number; readonly advanceMs: number }
  | { readonly kind: "lose" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("grant" as const),
      form: fc.constantFrom("range", "packed", "into"),
      nowMs,
      count,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("extend" as const),
      nowMs,
      aheadMs: fc.integer({ min: 0, max: 20 }),
      extraMs: fc.integer({ min: -30, max: 3 }),
      stale: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("gain" as const), nowMs, advanceMs: fc.integer({ min: 0, max: 10 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "lose" as const }) },
);

/** The allocator under test beside its model, and what a driver would have stored. */
class World {
  readonly allocator = new WindowAllocator();
  readonly model = new Model();
  readonly buf = new TimestampBuf(MAX_GRANT_COUNT);
  durableMs = 0;
  term = 0n;
  floorMs = 0;
  lastIssued = -1n;

  run(given: Step): void {
    switch (given.kind) {
      case "grant":
        return this.grant(given);
      case "extend":
        return this.extend(given);
      case "gain":
        return this.gain(given);
      case "lose":
        this.allocator.stepDown();
        this.model.epoch = undefined;
        expect([this.allocator.isLeader, this.allocator.epoch, this.allocator.committedHighWaterMs]).toEqual([
          false,
          undefined,
          undefined,
        ]);
        return undefined;
    }
  }

  grant({ form, nowMs: now, count: wanted }: Extract<Step, { kind: "grant" }>): void {
    const n = form === "packed" ? 1 : wanted;
    const would = this.allocator.wouldGrant(now, n);
    const expected = this.model.grant(BigInt(now), BigInt(n));
    const actual = this.take(form, now, n);
    expect(would).toBe(typeof actual === "object");
    if (typeof actual === "string") {
      expect(actual).toBe(expected);
      return;
    }
    const { first, last } = actual;
    expect(first).toBe(expected);
    expect(last - first).toBe(BigInt(n - 1));
    expect(first).toBeGreaterThan(this.lastIssued);
    expect(Timestamp.physicalMs(first)).toBe(Timestamp.physicalMs(last));
    expect(Timestamp.physicalMs(last)).toBeLessThanOrEqual(this.durableMs);
    expect(Timestamp.physicalMs(first)).toBeGreaterThanOrEqual(this.floorMs);
    this.lastIssued = last;
  }

  take(form: "range" | "packed" | "into", now: number, n: number): { first: Timestamp; last: Timestamp } | string {
    if (form === "range") {
      const granted = this.allocator.tryGrant(now, n);
      if (!granted.ok) return granted.error.kind;
      return { first: WindowGrant.first(granted.value), last: WindowGrant.last(granted.value) };
    }
    if (form === "packed") {
      const granted = this.allocator.tryGrantTimestamp(now);
      return granted.ok ? { first: granted.value, last: granted.value } : granted.error.kind;
    }
    this.buf.clear();
    const granted = this.allocator.tryGrantInto(now, n, this.buf);
    if (!granted.ok) return granted.error.kind;
    expect(this.buf.length).toBe(n);
    return { first: this.buf.at(0), last: this.buf.at(n - 1) };
  }

  extend({ nowMs: now, aheadMs, extraMs, stale }: Extract<Step, { kind: "extend" }>): void {
    const before = this.allocator.committedHighWaterMs;
    const prepared = this.allocator.prepareWindowExtension({ nowMs: now, aheadMs });
    expect(this.allocator.committedHighWaterMs).toBe(before);
    if (before === undefined) {
      expect(prepared).toEqual({ ok: false, error: { kind: "NotLeader" } });
      return;
    }
    if (!prepared.ok) {
      expect(Math.max(before + 1, now) + aheadMs).toBeGreaterThan(PHYSICAL_MS_MAX);
      return;
    }
    expect(prepared.value).toBe(Math.max(before + 1, now) + aheadMs);

    // A driver answers with the greater of what it is asked and what it has; a reordered answer may be lower.
    const answer = Math.min(Math.max(0, prepared.value + extraMs), PHYSICAL_MS_MAX);
    this.durableMs = Math.max(this.durableMs, answer);
    const outcome = this.allocator.commitWindowExtension(answer, Epoch.fromRaw(stale ? this.term - 1n : this.term));
    const applied = !stale && answer > before;
    expect(outcome).toMatchObject({ ok: true, value: { kind: applied ? "Applied" : "Ignored" } });
    expect(this.allocator.committedHighWaterMs).toBe(applied ? answer : before);
    this.model.highWaterMs = BigInt(applied ? answer : before);
  }

  gain({ nowMs: now, advanceMs }: Extract<Step, { kind: "gain" }>): void {
    // The fence rule: start above whatever any earlier leadership could have issued.
    const floorMs = Math.max(this.durableMs + 1, now);
    const ceilingMs = floorMs + advanceMs;
    const seeded = this.allocator.seed({ floorMs, ceilingMs, epoch: Epoch.fromRaw(this.term + 1n) });
    if (ceilingMs > PHYSICAL_MS_MAX) {
      expect(seeded).toMatchObject({ ok: false, error: { kind: "PhysicalMsOutOfRange" } });
      return;
    }
    expect(seeded.ok).toBe(true);
    this.term += 1n;
    this.floorMs = floorMs;
    this.durableMs = ceilingMs;
    this.model.epoch = this.term;
    this.model.highWaterMs = BigInt(ceilingMs);
    this.model.next = BigInt(floorMs) * PER_MS;
  }
}

describe("a life of the allocator", () => {
  test("never repeats, never regresses, never leaves its window, and agrees with the model", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 256, size: "max" }), (steps) => {
        const world = new World();
        world.run({ kind: "gain", nowMs: 95, advanceMs: 5 });
        for (const each of steps) world.run(each);
      }),
      { numRuns: 400 },
    );
  });

  test("a refused grant leaves no trace, whatever it asked for", () => {
    const asked = fc.tuple(
      fc.oneof(nowMs, fc.constantFrom(-1, 0.5, Number.NaN)),
      fc.oneof(count, fc.constantFrom(0, -1, 0.5, MAX_GRANT_COUNT + 1)),
    );
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 40 }), (requests) => {
        const tried = new WindowAllocator();
        const spared = new WindowAllocator();
        const window = { floorMs: 100, ceilingMs: 110, epoch: Epoch.fromRaw(1n) };
        expect(tried.seed(window).ok && spared.seed(window).ok).toBe(true);
        for (const [now, n] of requests) {
          const granted = tried.tryGrant(now, n);
          if (granted.ok) expect(spared.tryGrant(now, n)).toEqual(granted);
        }
        expect(tried.tryGrant(0, 1)).toEqual(spared.tryGrant(0, 1));
      }),
    );
  });
});
