import { RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import type { CommitAnswer, CoordinationStore } from "@gossip/coordination";
import { makeRun, makeShard } from "@gossip/tools/store-model";

export const FILL_TENANT: TenantId = TenantId.fromBytes(new Uint8Array(32).fill(4));
/** Shards per run, and bytes per shard. */
export const FILL_SHARDS = 20;
const SHARD_SIZE = 4000;
const LIMITS = { maxShardsPerTenant: 1e9, maxShardsTotal: 1e9 };

/** Adds runs of 80 KB to a store until one is refused. */
export async function fillStore(
  store: CoordinationStore,
  { runs, from }: { readonly runs: number; readonly from: number },
): Promise<{ readonly made: number; readonly refusal: CommitAnswer | undefined }> {
  for (let index = 0; index < runs; index++) {
    const run = RunId.fromRaw(BigInt(from + index));
    const created = Array.from({ length: FILL_SHARDS }, (_, shard) => {
      const metadata = new Uint8Array(SHARD_SIZE).fill(shard);
      const spec = ShardSpec.withRangeAndMetadata({ start: bound(shard), end: bound(shard + 1), metadata });
      return makeShard(FILL_TENANT, run, ShardId.fromRaw(BigInt(shard)), "a", { spec });
    });
    const after = makeRun(FILL_TENANT, run, { rootShards: created.map(({ shard }) => shard) });
    const set = {
      kind: "PutRun",
      tenant: FILL_TENANT,
      run,
      guard: undefined,
      after,
      created,
      limits: LIMITS,
      noShardsIn: [],
    } as const;
    const [answer] = await store.commit([set]);
    if (answer?.kind !== "Committed") return { made: index, refusal: answer };
  }
  return { made: runs, refusal: undefined };
}

/** The start of a shard, and the end of the previous one. */
export function bound(shard: number): Buffer {
  return Buffer.from(`s${String(shard).padStart(2, "0")}`);
}
