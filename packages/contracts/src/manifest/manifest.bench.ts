import { Cursor, ShardId, ShardSpec, validateManifest, type InitialShardInput } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const SHARDS = 10_000;

/** A shuffle that is the same in every run. */
function shuffled<T>(items: readonly T[]): T[] {
  const out = [...items];
  let state = 0x2545f491;
  for (let index = out.length - 1; index > 0; index--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (index + 1);
    [out[index], out[other]] = [out[other]!, out[index]!];
  }
  return out;
}

const key = (index: number): Uint8Array =>
  new TextEncoder().encode(`tenant/logs/2026/${String(index).padStart(8, "0")}`);
const sorted: InitialShardInput[] = Array.from({ length: SHARDS }, (_, index) => ({
  shard: ShardId.fromRaw(BigInt(index)),
  spec: ShardSpec.withRange({ start: key(index), end: key(index + 1) }),
  cursor: index % 2 === 0 ? Cursor.initial() : Cursor.withLastKey(key(index)),
}));

for (const [order, manifest] of [
  ["shuffled", shuffled(sorted)],
  ["sorted", sorted],
] as const) {
  const ranges = manifest.map(({ spec }) => spec);
  compare(`validateManifest, 10,000 shards, ${order}`, {
    forms: {
      validateManifest: () => validateManifest(manifest),
      "sort the ranges by start": () => ranges.toSorted((a, b) => compareBytes(a.keyRangeStart, b.keyRangeStart)),
    },
    bounds:
      order === "shuffled"
        ? [{ form: "validateManifest", ratioAtMost: 2, toBestOf: ["sort the ranges by start"] }]
        : [],
    // Several calls a sample: a single one would time the compiler as much as the code.
    options: { sampleMs: 40, measureHeap: false },
  });
}
