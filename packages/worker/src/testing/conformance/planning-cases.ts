import { Cursor, ShardId, validateManifest, type RangeInput, type ShardSpec } from "@gossip/contracts";
import { decodeMetadata, planHintedSplitResidual } from "@gossip/frontier";
import { assert, compareBytes, unwrap } from "@gossip/stdx";
import type { SourceCase } from "./source-case.ts";
import { hex, type SourceWorld } from "./source-world.ts";

const SHARD_COUNTS = [1, 2, 3, 7, 64];
const SOME = 12;

/** How a source cuts its key space. */
export const planningCases: readonly SourceCase[] = [
  {
    name: "a plan has no more shards than wanted, and at least one",
    async run(world) {
      for (const shardCount of SHARD_COUNTS) {
        const { length } = await planOf(world, shardCount);
        world.expect(length >= 1 && length <= shardCount).toBe(true);
      }
    },
  },
  {
    name: "the shards of a plan touch, have both bounds, and can be registered",
    async run(world) {
      for (const shardCount of SHARD_COUNTS) {
        const specs = await planOf(world, shardCount);
        world
          .expect(specs.slice(1).map(({ keyRangeStart }) => hex(keyRangeStart)))
          .toEqual(specs.slice(0, -1).map(({ keyRangeEnd }) => hex(keyRangeEnd)));
        const manifest = specs.map((spec, index) => ({
          shard: ShardId.fromRaw(BigInt(index)),
          spec,
          cursor: Cursor.initial(),
        }));
        world.expect(validateManifest(manifest)).toEqual({ ok: true, value: undefined });
        world.expect(specs.filter((spec) => !decodeMetadata(spec).ok).length).toBe(0);
      }
    },
  },
  {
    name: "a plan covers every item",
    async run(world) {
      for (const shardCount of SHARD_COUNTS) {
        const all: Uint8Array[] = [];
        for (const spec of await planOf(world, shardCount))
          all.push(...(await world.read({ range: rangeOf(spec) })).keys);
        world.expectKeys(all, world.keys);
      }
    },
  },
  {
    name: "a split point lies above `after` and strictly inside the range, and a shard can be cut there",
    async run(world) {
      for (const spec of [...(await planOf(world, 1)), ...(await planOf(world, 3))]) {
        for (const after of [undefined, ...world.places(SOME).map((place) => world.keys[place]!)]) {
          if (after !== undefined && !contains(spec, after)) continue;
          const point = await splitPoint(world, spec, after);
          if (point === undefined) continue;
          world.expect(contains(spec, point) && compareBytes(point, after ?? spec.keyRangeStart) > 0).toBe(true);
          const cursor = after === undefined ? Cursor.initial() : Cursor.withLastKey(after);
          world.expect(planHintedSplitResidual(spec, cursor, point).ok).toBe(true);
        }
      }
    },
  },
  {
    name: "every key can be shown to a person",
    async run(world) {
      if (world.source.describeKey === undefined) return;
      const shown = world.keys.map((key) => world.source.describeKey!(key));
      world.expect(shown.filter((text) => typeof text !== "string" || text.length === 0).length).toBe(0);
    },
  },
];

async function planOf(world: SourceWorld, shardCount: number): Promise<readonly ShardSpec[]> {
  const plan = await world.source.plan({ shardCount });
  assert(plan.ok, () => `the source cannot be planned: ${plan.ok ? "" : plan.error.kind}`);
  return unwrap(plan);
}

/** Passes the last keys before `after` as samples, as the runtime does. */
async function splitPoint(
  world: SourceWorld,
  spec: ShardSpec,
  after: Uint8Array | undefined,
): Promise<Uint8Array | undefined> {
  const done = world.keys.filter((key) => contains(spec, key) && after !== undefined && compareBytes(key, after) <= 0);
  return world.source.splitPoint?.({ range: rangeOf(spec), after, samples: done.slice(-8) });
}

function contains({ keyRangeStart, keyRangeEnd }: ShardSpec, key: Uint8Array): boolean {
  return compareBytes(key, keyRangeStart) >= 0 && compareBytes(key, keyRangeEnd) < 0;
}

function rangeOf({ keyRangeStart, keyRangeEnd }: ShardSpec): RangeInput {
  return { start: keyRangeStart, end: keyRangeEnd };
}
