// A handle outlives what it names: it waits in a builder, in a queue, in a closure. If the arena ever answered it with
// the spec that has the slot now, a worker would scan another shard's range under its own shard's name.
import { InvariantViolation, ok, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { ascii, denseKey, filled, NOT_BYTES } from "../arbitraries.fixture.ts";
import { ShardArena, type ShardSpecHandle } from "./shard-arena.ts";
import type { ShardSpecRef } from "./shard-spec-ref.ts";
import { ShardSpec } from "./shard-spec.ts";
import { range } from "../specs.fixture.ts";

const full = (requested: number, available: number) => ({
  ok: false,
  error: { kind: "SlabFull", requested, available },
});
const owned = (spec: ShardSpecRef | undefined) => (spec === undefined ? undefined : unwrap(ShardSpec.tryFromRef(spec)));
const makeArena = (specSlots: number, byteCapacity = 4096) => ShardArena.withCapacity({ specSlots, byteCapacity });

describe("ShardArena", () => {
  test("follows the worked trace of two slots", () => {
    const arena = makeArena(2);
    const a = unwrap(arena.allocSpec(range("a", "b")));
    const b = unwrap(arena.allocSpec(range("b", "c")));
    expect([a, b]).toEqual([
      { slot: 0, generation: 0, arenaId: arena.id },
      { slot: 1, generation: 0, arenaId: arena.id },
    ]);
    expect(arena.allocSpec(range("c", "d"))).toEqual(full(1, 0));

    arena.freeSpec(a);
    const d = unwrap(arena.allocSpec(range("d", "e")));
    expect(d).toEqual({ slot: 0, generation: 1, arenaId: arena.id });
    expect(arena.tryViewSpec(a)).toBe(undefined);
    arena.freeSpec(a);
    expect(owned(arena.tryViewSpec(d))).toEqual(range("d", "e"));

    arena.clear();
    expect(arena.tryViewSpec(d)).toBe(undefined);
    expect(arena.tryViewSpec(b)).toBe(undefined);
    expect(arena.allocSpec(range("e", "f"))).toEqual({
      ok: true,
      value: { slot: 0, generation: 2, arenaId: arena.id },
    });
    expect(arena.allocSpec(range("f", "g"))).toEqual({
      ok: true,
      value: { slot: 1, generation: 1, arenaId: arena.id },
    });
  });

  test("reuses the slot that was freed last, then takes fresh ones in order", () => {
    const arena = makeArena(4);
    const handles = [0, 1, 2].map(() => unwrap(arena.allocSpec(range("a", "b"))));
    arena.freeSpec(handles[2]!);
    arena.freeSpec(handles[0]!);
    const slots = [0, 1, 2].map(() => unwrap(arena.allocSpec(range("a", "b"))).slot);
    expect(slots).toEqual([0, 2, 3]);
  });

  test("owns its bytes", () => {
    const arena = makeArena(1);
    const spec = range("a", "m", "meta");
    const handle = unwrap(arena.allocSpec(spec));
    for (const bytes of Object.values(spec) as Uint8Array[]) bytes.fill(0);
    expect(owned(arena.viewSpec(handle))).toEqual(range("a", "m", "meta"));
  });

  test("holds unbounded specs, which take no bytes", () => {
    const arena = makeArena(2, 0);
    const handle = unwrap(arena.allocSpec(ShardSpec.unbounded()));
    expect(owned(arena.viewSpec(handle))).toEqual(range("", ""));
    expect(arena.liveBytes).toBe(0);
    expect(arena.liveSpecCount).toBe(1);
    expect([arena.specSlots, arena.byteCapacity]).toEqual([2, 0]);
  });

  test.each([
    { field: "start", capacity: 16, spec: range("s".repeat(20), "z"), error: full(32, 16) },
    // What the refused spec had taken is given back before the answer: 32 bytes are free again.
    { field: "end", capacity: 32, spec: range("s".repeat(20), "z".repeat(40)), error: full(64, 32) },
    { field: "end, which alone would fit", capacity: 32, spec: range("s".repeat(20), "z"), error: full(16, 32) },
    { field: "metadata", capacity: 48, spec: range("a", "z", "m".repeat(17)), error: full(32, 32) },
  ])("changes nothing where there is no room for the $field", ({ capacity, spec, error }) => {
    const arena = makeArena(2, capacity);
    expect(arena.tryAllocSpec(spec)).toBe(undefined);
    expect(arena.allocSpec(spec)).toEqual(error);
    expect(arena.liveBytes).toBe(0);
    expect(arena.liveSpecCount).toBe(0);
    expect(arena.allocSpec(range("a", ""))).toEqual({ ok: true, value: { slot: 0, generation: 0, arenaId: arena.id } });
  });

  test("gives the bytes back when a spec is freed", () => {
    const arena = makeArena(1, 48);
    for (let round = 0; round < 5; round++) {
      const handle = unwrap(arena.allocSpec(range("a", "b", "meta")));
      expect(handle).toEqual({ slot: 0, generation: round, arenaId: arena.id });
      expect(arena.liveBytes).toBe(48);
      arena.freeSpec(handle);
      expect(arena.liveBytes).toBe(0);
    }
  });

  test("ends with its scope", () => {
    let handle: ShardSpecHandle;
    let view: ShardSpecRef;
    const outer = makeArena(1);
    {
      using arena = outer;
      handle = unwrap(arena.allocSpec(range("a", "b")));
      view = arena.viewSpec(handle);
    }
    expect(outer.tryViewSpec(handle)).toBe(undefined);
    expect(() => view.metadata).toThrow(InvariantViolation);
  });
});

describe("a view", () => {
  const ends = [
    { event: "its spec is freed", end: (arena: ShardArena, handle: ShardSpecHandle) => arena.freeSpec(handle) },
    { event: "the arena is cleared", end: (arena: ShardArena) => arena.clear() },
  ];
  test.each(ends)("throws when read after $event, also where the slot is used again", ({ end }) => {
    const arena = makeArena(1);
    const handle = unwrap(arena.allocSpec(range("a", "b", "m")));
    const view = arena.viewSpec(handle);
    end(arena, handle);
    for (let round = 0; round < 2; round++) {
      for (const read of [() => view.keyRangeStart, () => view.keyRangeEnd, () => view.metadata]) {
        expect(read).toThrow("shard spec view outlived its spec");
      }
      void arena.allocSpec(range("c", "d", "n"));
    }
  });

  test("shows no bytes when it is logged", () => {
    const arena = makeArena(1);
    const view = arena.viewSpec(unwrap(arena.allocSpec(range("secret", "secret2", "secret3"))));
    expect(inspect(view)).not.toMatch(/secret|Uint8Array/);
    expect(JSON.stringify(view)).toBe("{}");
  });
});

describe("bad input", () => {
  test("a handle of another arena, of a slot that never was, or made up, names nothing", () => {
    const arena = makeArena(2);
    const other = makeArena(2);
    const handle = unwrap(arena.allocSpec(range("a", "b")));
    unwrap(other.allocSpec(range("c", "d")));
    const strange = [
      { ...handle, arenaId: other.id + 1000 },
      { ...handle, slot: 1 },
      { ...handle, slot: 2 },
      { ...handle, slot: -1 },
      { ...handle, slot: 0.5 },
      { ...handle, slot: Number.NaN },
      { ...handle, slot: "0" },
      { ...handle, slot: "length" },
      { ...handle, generation: 1 },
      { ...handle, generation: -1 },
      { ...handle, generation: undefined },
      {},
    ] as ShardSpecHandle[];
    for (const bad of strange) {
      expect(arena.tryViewSpec(bad)).toBe(undefined);
      expect(() => arena.viewSpec(bad)).toThrow("stale, freed or of another arena");
      arena.freeSpec(bad);
    }
    expect(other.tryViewSpec(handle)).toBe(undefined);
    other.freeSpec(handle);
    expect(other.liveSpecCount).toBe(1);
    expect(arena.liveSpecCount).toBe(1);
  });

  test("a handle that foresees the next generation names nothing before it has come", () => {
    const arena = makeArena(1);
    const handle = unwrap(arena.allocSpec(range("a", "b")));
    const next = { ...handle, generation: 1 };
    arena.clear();
    expect(arena.tryViewSpec(next)).toBe(undefined);
    arena.freeSpec(next);
    expect(unwrap(arena.allocSpec(range("c", "d")))).toEqual(next);
  });

  test("a handle that is no object is refused", () => {
    const arena = makeArena(1);
    for (const bad of [undefined, null, 0, "0"]) {
      expect(() => arena.tryViewSpec(bad as never)).toThrow(InvariantViolation);
      expect(() => arena.viewSpec(bad as never)).toThrow(InvariantViolation);
      expect(() => arena.freeSpec(bad as never)).toThrow(InvariantViolation);
    }
  });

  test("a spec that is invalid or none is refused, and takes nothing", () => {
    const arena = makeArena(1);
    expect(() => arena.allocSpec(range("b", "a"))).toThrow("must be valid before it is allocated");
    expect(() => arena.allocSpec({ ...range("a", "b"), metadata: filled(16_385) })).toThrow(InvariantViolation);
    for (const bad of NOT_BYTES) {
      expect(() => arena.allocSpec({ ...range("a", "b"), metadata: bad as Uint8Array })).toThrow(InvariantViolation);
      expect(() => arena.allocSpec(bad as never)).toThrow(InvariantViolation);
    }
    expect(arena.liveSpecCount).toBe(0);
    expect(arena.liveBytes).toBe(0);
  });

  test.each([
    undefined,
    null,
    {},
    { specSlots: -1, byteCapacity: 1 },
    { specSlots: 1.5, byteCapacity: 1 },
    { specSlots: 2 ** 20 + 1, byteCapacity: 1 },
    { specSlots: 1, byteCapacity: 2 ** 32 },
    { specSlots: 1, byteCapacity: "1" },
    { specSlots: 1n, byteCapacity: 1 },
  ])("refuses a capacity that is none (%#)", (bad) => {
    expect(() => ShardArena.withCapacity(bad as never)).toThrow(InvariantViolation);
  });
});

describe("against a model", () => {
  type Step =
    | { readonly kind: "alloc"; readonly spec: ShardSpecRef }
    | { readonly kind: "free"; readonly pick: number }
    | { readonly kind: "clear" };

  const bytes = denseKey({ min: 0, max: 40 });
  const spec = fc
    .tuple(bytes, bytes, bytes)
    .map(([keyRangeStart, keyRangeEnd, metadata]) => ({ keyRangeStart, keyRangeEnd, metadata }))
    .filter((one) => ShardSpec.tryFromRef(one).ok);
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("alloc" as const), spec }) },
    // Any handle ever handed out may be freed, live or not: most of them are stale.
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("free" as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.constant({ kind: "clear" as const }) },
  );

  test("names every live spec and nothing else, and no two live specs share bytes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const arena = makeArena(4, 512);
        const stranger = makeArena(4, 512);
        // Every handle ever given out, with its spec while it is live.
        const model: { readonly handle: ShardSpecHandle; spec: ShardSpecRef | undefined }[] = [];

        for (const one of steps) {
          if (one.kind === "alloc") {
            // Both ways in, in turn.
            const handle = model.length % 2 === 0 ? undefined : arena.tryAllocSpec(one.spec);
            const allocated = handle === undefined ? arena.allocSpec(one.spec) : ok(handle);
            const liveCount = model.filter((entry) => entry.spec !== undefined).length;
            if (allocated.ok) model.push({ handle: allocated.value, spec: one.spec });
            else if (liveCount === 4) expect(allocated).toEqual(full(1, 0));
            else expect(allocated.error.kind).toBe("SlabFull");
          } else if (one.kind === "free" && model.length > 0) {
            const entry = model[one.pick % model.length]!;
            arena.freeSpec(entry.handle);
            entry.spec = undefined;
          } else if (one.kind === "clear") {
            arena.clear();
            for (const entry of model) entry.spec = undefined;
          }

          const texts = model.map(({ handle }) => `${handle.slot}/${handle.generation}`);
          expect(new Set(texts).size).toBe(texts.length);
          expect(arena.liveSpecCount).toBe(model.filter((entry) => entry.spec !== undefined).length);
          for (const entry of model) {
            expect(owned(arena.tryViewSpec(entry.handle))).toEqual(entry.spec);
            expect(stranger.tryViewSpec(entry.handle)).toBe(undefined);
          }
          expectDisjoint(model.flatMap((entry) => (entry.spec ? [arena.viewSpec(entry.handle)] : [])));
        }
      }),
      { numRuns: 200 },
    );
  });

  function expectDisjoint(views: readonly ShardSpecRef[]): void {
    const fields = views
      .flatMap((view) => [view.keyRangeStart, view.keyRangeEnd, view.metadata])
      .filter((field) => field.length > 0)
      .sort((a, b) => a.byteOffset - b.byteOffset);
    for (let index = 1; index < fields.length; index++) {
      const before = fields[index - 1]!;
      expect(before.byteOffset + before.length).toBeLessThanOrEqual(fields[index]!.byteOffset);
    }
  }
});

test("arenas have ids of their own, and 0 is none", () => {
  const ids = [makeArena(0).id, makeArena(0).id];
  expect(new Set([...ids, 0]).size).toBe(3);
  expect(makeArena(0).allocSpec({ ...range("a", "b"), metadata: ascii("") })).toEqual(full(1, 0));
});
