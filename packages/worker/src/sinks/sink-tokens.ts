import type { RunId, TenantId } from "@gossip/contracts";
import { ShardFilter, type Coordinator, type ShardPosition, type ShardSummary } from "@gossip/coordination";
import type { GetRunError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";

/** Some shards still are to be worked on, so that what they hold is not all there will be. */
export interface RunUnfinished {
  readonly kind: "RunUnfinished";
  readonly active: number;
}

const PAGE_SIZE = 1000;
const READS_AT_ONCE = 32;

/**
 * What the cursors of a finished run say of its results, in the order of keys: what `assembleNdjson` wants.
 *
 * Shards that were replaced by others are left out, because their first child went on from their cursor. Parked ones
 * are in: what they have done counts.
 */
export async function sinkTokens(
  coordinator: Coordinator,
  { tenant, run }: { readonly tenant: TenantId; readonly run: RunId },
): Promise<Result<readonly (Uint8Array | undefined)[], GetRunError | RunUnfinished>> {
  const shards: ShardSummary[] = [];
  let after: ShardPosition | undefined;
  do {
    const page = await coordinator.listShards({ tenant, run, filter: ShardFilter.ALL, limit: PAGE_SIZE, after });
    if (!page.ok) return page;
    for (const shard of page.value.items) if (shard.status !== "Split") shards.push(shard);
    after = page.value.next;
  } while (after !== undefined);

  const active = shards.filter(({ status }) => status === "Active").length;
  if (active > 0) return err({ kind: "RunUnfinished", active });

  // Shards are listed by where their ranges start.
  const tokens: (Uint8Array | undefined)[] = [];
  for (let index = 0; index < shards.length; index += READS_AT_ONCE) {
    const some = shards.slice(index, index + READS_AT_ONCE);
    const records = await Promise.all(some.map(({ shard }) => coordinator.getShard({ tenant, key: { run, shard } })));
    for (const record of records) {
      if (!record.ok) return record;
      tokens.push(record.value?.cursor.token);
    }
  }
  return ok(tokens);
}
