import type { RunId, TenantId } from "@gossip/contracts";
import { ShardFilter, type CoordinatorApi, type ShardPosition, type ShardSummary } from "@gossip/coordination";
import type { GetRunError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";

/** Some shards still have work left, so their tokens do not cover all results. */
export interface RunUnfinished {
  readonly kind: "RunUnfinished";
  readonly active: number;
}

const PAGE_SIZE = 1000;
const READS_AT_ONCE = 32;

/**
 * The sink tokens of a finished run, in key order, as `assembleNdjson` takes them.
 *
 * Split shards are left out, because their first child continued from their cursor. Parked shards are included: their
 * finished results count.
 */
export async function sinkTokens(
  coordinator: CoordinatorApi,
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

  // Shards are listed by the start of their ranges.
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
