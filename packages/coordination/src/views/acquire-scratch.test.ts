// Bytes on loan are the one place here where a value can change under its reader. An empty bound means "no bound", so a
// stale view that reads as empty would hand a worker the whole key space.

import { Cursor, ShardSpec, SplitResidualPlan, type ShardId } from "@gossip/contracts";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Coordinator } from "../coordinator/coordinator.ts";
import { at, initial, KEY, op, range, RUN, shardId, TENANT, text, worker } from "../kernel/world.fixture.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { AcquireScratch } from "./acquire-scratch.ts";

const rest = { status: "Active", cursorSemantics: "Completed", parent: undefined } as const;

describe("AcquireScratch", () => {
  test("lends back exactly what was written", () => {
    const part = fc.array(fc.constantFrom(0, 1, 0xff), { maxLength: 5 }).map((values) => Uint8Array.from(values));
    fc.assert(
      fc.property(
        part,
        part,
        part,
        fc.option(
          part.filter((key) => key.length > 0),
          { nil: undefined },
        ),
        part,
        (start, end, metadata, lastKey, token) => {
          const scratch = new AcquireScratch();
          scratch.writeSpec({ keyRangeStart: start, keyRangeEnd: end, metadata });
          scratch.writeCursor(lastKey === undefined ? Cursor.initial() : Cursor.fromParts({ lastKey, token }));
          const { spec, cursor } = scratch.view(rest);
          expect([spec.keyRangeStart, spec.keyRangeEnd, spec.metadata]).toEqual([start, end, metadata]);
          expect(cursor.lastKey).toEqual(lastKey);
          expect(cursor.token).toEqual(lastKey === undefined || token.length === 0 ? undefined : token);
        },
      ),
    );
  });

  test("holds the largest shard there can be, and nothing larger", () => {
    const scratch = new AcquireScratch();
    scratch.writeSpec(range("a".repeat(4096), "z".repeat(4096), "m".repeat(16_384)));
    scratch.writeCursor(at("k".repeat(4096), "t".repeat(16_384)));
    scratch.writeSpawned(Array.from({ length: 1024 }, () => shardId(1)));
    expect(scratch.view(rest).spec.metadata.length).toBe(16_384);
    const bytes = (size: number) => new Uint8Array(size).fill(1);
    const none = bytes(0);
    expect(() => scratch.writeSpec({ keyRangeStart: bytes(4097), keyRangeEnd: none, metadata: none })).toThrow(
      InvariantViolation,
    );
    expect(() => scratch.writeSpec({ keyRangeStart: none, keyRangeEnd: bytes(4097), metadata: none })).toThrow(
      InvariantViolation,
    );
    expect(() => scratch.writeSpec({ keyRangeStart: none, keyRangeEnd: none, metadata: bytes(16_385) })).toThrow(
      InvariantViolation,
    );
    expect(() => scratch.writeCursor({ lastKey: bytes(4097), token: undefined })).toThrow(InvariantViolation);
    expect(() => scratch.writeCursor({ lastKey: bytes(1), token: bytes(16_385) })).toThrow(InvariantViolation);
    expect(() => scratch.writeCursor({ lastKey: undefined, token: bytes(1) })).toThrow(InvariantViolation);
    expect(() => scratch.writeSpawned(Array.from({ length: 1025 }, () => shardId(1)))).toThrow(InvariantViolation);
  });

  test.each([
    ["a spec", (scratch: AcquireScratch) => scratch.writeSpec(ShardSpec.unbounded())],
    ["a cursor", (scratch: AcquireScratch) => scratch.writeCursor(Cursor.initial())],
    ["spawned shards", (scratch: AcquireScratch) => scratch.writeSpawned([])],
    ["nothing, on reset", (scratch: AcquireScratch) => scratch.reset()],
  ])("a view throws once %s was written", (_what, write) => {
    const scratch = new AcquireScratch();
    scratch.writeSpec(range("a", "z", "m"));
    scratch.writeCursor(at("c", "t"));
    const { spec, cursor } = scratch.view(rest);
    write(scratch);
    const reads = [
      () => spec.keyRangeStart,
      () => spec.keyRangeEnd,
      () => spec.metadata,
      () => cursor.lastKey,
      () => cursor.token,
    ];
    for (const read of reads) expect(read).toThrow(InvariantViolation);
  });

  test("starts empty again after a reset", () => {
    const scratch = new AcquireScratch();
    scratch.writeSpec(range("a", "z", "m"));
    scratch.writeSpawned([shardId(5)]);
    scratch.reset();
    const { spec, cursor, spawned } = scratch.view(rest);
    expect([spec.keyRangeStart.length, spec.metadata.length, cursor.lastKey, spawned.length]).toEqual([
      0,
      0,
      undefined,
      0,
    ]);
  });
});

describe("acquireInto", () => {
  async function world() {
    const store = new MemoryStore({ slabCapacity: 1 << 20 });
    const clock = new ManualClock(10n);
    const coordinator = new Coordinator({ store, clock });
    const shards = [initial(10, "a", "m"), initial(11, "m", "z")];
    unwrap(
      await coordinator.createRunWithShards({
        tenant: TENANT,
        run: RUN,
        config: { leaseDuration: 100n },
        shards,
        opId: op(1),
      }),
    );
    return { coordinator, clock };
  }
  const request = (shard: bigint, by = 1) => ({
    tenant: TENANT,
    key: { ...KEY, shard: shard as ShardId },
    worker: worker(by),
  });

  test("takes no memory for keys, tokens or metadata, where an acquire takes all they need", async () => {
    const { coordinator, clock } = await world();
    const scratch = new AcquireScratch();
    const { lease } = unwrap(await coordinator.acquire(request(10n))).value;
    const plan = unwrap(
      SplitResidualPlan.tryNew({ parentNewSpec: range("a", "k", "x".repeat(16_384)), residualSpec: range("k", "m") }),
    );
    unwrap(await coordinator.splitResidual({ tenant: TENANT, lease, plan, opId: op(2) }));
    /** How much twenty acquires take, several times over. A collection in between can only make it less. */
    const grownBy = async (acquire: (by: number) => Promise<unknown>) => {
      const growths: number[] = [];
      for (let attempt = 0; attempt < 6; attempt++) {
        const before = process.memoryUsage().arrayBuffers;
        for (let by = 0; by < 20; by++) {
          clock.advance(100n);
          await acquire(by);
        }
        growths.push(process.memoryUsage().arrayBuffers - before);
      }
      return Math.max(...growths);
    };
    expect(await grownBy(async (by) => unwrap(await coordinator.acquireInto(request(10n, by), scratch)))).toBeLessThan(
      20 * 1024,
    );
    expect(await grownBy(async (by) => unwrap(await coordinator.acquire(request(10n, by))))).toBeGreaterThanOrEqual(
      20 * 16_384,
    );
  });

  test("one scratch serves one acquire at a time", async () => {
    const { coordinator } = await world();
    const scratch = new AcquireScratch();
    const first = coordinator.acquireInto(request(10n), scratch);
    await expect(coordinator.acquireInto(request(11n), scratch)).rejects.toThrow(InvariantViolation);
    expect(unwrap(await first).value.snapshot.spec.keyRangeStart).toEqual(text("a"));
    expect(unwrap(await coordinator.acquireInto(request(11n), scratch)).value.snapshot.spec.keyRangeStart).toEqual(
      text("m"),
    );
  });

  test("a refusal gives the scratch back", async () => {
    const { coordinator } = await world();
    const scratch = new AcquireScratch();
    expect((await coordinator.acquireInto(request(99n), scratch)).ok).toBe(false);
    expect((await coordinator.acquireInto(request(10n), scratch)).ok).toBe(true);
  });

  test("what is acquired so can be worked on like any other", async () => {
    const { coordinator, clock } = await world();
    const scratch = new AcquireScratch();
    const { lease } = unwrap(await coordinator.acquireInto(request(10n), scratch)).value;
    unwrap(await coordinator.checkpoint({ tenant: TENANT, lease, cursor: at("c", "t"), opId: op(2) }));
    clock.advance(100n);
    const again = unwrap(await coordinator.acquireInto(request(10n, 2), scratch)).value;
    expect([again.snapshot.cursor.lastKey, again.snapshot.cursor.token]).toEqual([text("c"), text("t")]);
    expect(again.lease.fence).toBe(3n);
    expect(unwrap(await coordinator.getShard({ tenant: TENANT, key: KEY }))?.spec).toEqual(range("a", "m"));
  });
});
