import type { LogicalTime, TenantId } from "../../packages/contracts/src/index.ts";
import {
  NoteSpace,
  type CoordinationStore,
  type Note,
  type Page,
  type RunRecord,
  type ShardRecord,
} from "../../packages/coordination/src/index.ts";
import { unwrap, type Result } from "../../packages/stdx/src/index.ts";

/** All that can be read of a store, without versions, which are each store's own. */
export async function readEverything(store: CoordinationStore, now: LogicalTime): Promise<unknown[]> {
  const tenants = await allPages((after: TenantId | undefined) => store.listTenants({ after, limit: 2 }));
  const state: unknown[] = [];
  for (const tenant of tenants) {
    const runs = await allPages((after: RunRecord["run"] | undefined) => store.listRuns({ tenant, after, limit: 2 }));
    for (const record of runs) {
      const moment = { tenant, run: record.run, now };
      const shards = await allPages((after: Parameters<typeof store.listShards>[0]["after"]) =>
        store.listShards({ ...moment, after, limit: 7, filter: {} }),
      );
      const listing = unwrap(await store.listClaimCandidates({ ...moment, limit: 1000, spread: 0x5555_5555 }));
      state.push({
        record,
        head: listing.run?.record.status,
        shards: shards satisfies readonly ShardRecord[],
        progress: unwrap(await store.readProgress(moment)),
        hint: unwrap(await store.readHint(moment)),
        candidates: listing.candidates.map(({ shard }) => shard).toSorted((a, b) => (a < b ? -1 : 1)),
        earliest: listing.earliestDeadline,
        notes: await listNotes(store, moment),
      });
    }
  }
  return state;
}

/** Every note of a run. */
export async function listNotes(store: CoordinationStore, { tenant, run }: RunAddress): Promise<readonly Note[]> {
  const spaces = NoteSpace.values.map((space) =>
    allPages((start: Uint8Array | undefined = new Uint8Array()) =>
      store.listNotes({ tenant, run, space, start, end: undefined, limit: 3 }),
    ),
  );
  return (await Promise.all(spaces)).flat();
}

interface RunAddress {
  readonly tenant: TenantId;
  readonly run: RunRecord["run"];
}

async function allPages<Item, Position>(
  list: (
    after: Position | undefined,
  ) => Result<Page<Item, Position>, unknown> | Promise<Result<Page<Item, Position>, unknown>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let after: Position | undefined;
  do {
    const page = unwrap(await list(after));
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}
