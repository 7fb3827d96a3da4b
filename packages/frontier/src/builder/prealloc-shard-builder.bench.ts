import {
  Cursor,
  ShardArena,
  ShardId,
  validateManifest,
  type InitialShardInput,
  type ShardSpecRef,
} from "@gossip/contracts";
import { PreallocShardBuilder, rangeShard } from "@gossip/frontier";
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const SHARD_COUNT = 1024;

const text = new TextEncoder();
const bounds = Array.from({ length: SHARD_COUNT + 1 }, (_, index) =>
  text.encode(`logs/2026/${String(index).padStart(6, "0")}`),
);
const ranges = Array.from({ length: SHARD_COUNT }, (_, index) => ({ start: bounds[index]!, end: bounds[index + 1]! }));
const specs: readonly ShardSpecRef[] = ranges.map((range) => ({ ...unwrap(rangeShard(range)) }));

const arena = ShardArena.withCapacity({ specSlots: SHARD_COUNT, byteCapacity: SHARD_COUNT * 128 });

/** The whole life of a builder: disposing of it empties the arena for the next one. */
function stageAndBuild(): number {
  using builder = new PreallocShardBuilder(arena, { entryLimit: SHARD_COUNT });
  for (const range of ranges) unwrap(builder.addRange(range));
  return unwrap(builder.buildInputs()).length;
}

/** The same manifest without a builder: nothing is checked on the way in, nothing is copied. */
function pushAndValidate(): number {
  const inputs: InitialShardInput[] = [];
  for (const spec of specs)
    inputs.push({ shard: ShardId.fromRaw(BigInt(inputs.length)), spec, cursor: Cursor.initial() });
  unwrap(validateManifest(inputs));
  return inputs.length;
}

compare(`stage and build ${SHARD_COUNT} shards`, {
  forms: { PreallocShardBuilder: stageAndBuild, "plain objects": pushAndValidate },
  bounds: [{ form: "PreallocShardBuilder", ratioAtMost: 3, toBestOf: ["plain objects"] }],
  options: { sampleMs: 20 },
});
