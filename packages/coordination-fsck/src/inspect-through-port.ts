import { LogicalTime, type RunId, type TenantId } from "@gossip/contracts";
import {
  NoteSpace,
  ShardFilter,
  type CoordinationStore,
  type Page,
  type RunRecord,
  type ShardPosition,
  type StoreAnswer,
} from "@gossip/coordination";
import type { InfraError } from "@gossip/coordination-errors";
import { assert, ok } from "@gossip/stdx";
import type { CountScope, FsckSource, RunView, StoredShard, StoreView } from "./fsck-source.ts";

/** Listing needs a time for its filters. Everything is listed here, so any time will do. */
const ANY_TIME = LogicalTime.fromRaw(1n);
const PAGE_SIZE = 500;
const NO_COUNTS: ReadonlySet<CountScope> = new Set<CountScope>();

/**
 * Any store, as far as its port shows it: records, lineage, coverage and notes can be checked, indexes and counts
 * cannot.
 *
 * Pages are read one after the other, so a concurrent write can look like a contradiction: stop all workers first. A
 * store that keeps an index should offer an `FsckSource` of its own instead.
 */
export function inspectThroughPort(store: CoordinationStore): FsckSource {
  const isStore = typeof store === "object" && store !== null && typeof store.listTenants === "function";
  assert(isStore, "what is inspected must be a CoordinationStore");
  return {
    look: () => Promise.resolve(viewOf(store)),
    rebuildIndexes: () => Promise.resolve({ removedEntries: 0, addedEntries: 0, correctedCounts: 0 }),
    explain(thrown) {
      if (thrown instanceof PortFailure) return thrown.error;
      throw thrown;
    },
  };
}

/** Carries the store's failure out of the walk. */
class PortFailure extends Error {
  readonly error: InfraError;

  constructor(error: InfraError) {
    super("the store could not be read");
    this.error = error;
  }
}

function viewOf(store: CoordinationStore): StoreView {
  return {
    countScopes: NO_COUNTS,
    async *runs() {
      for await (const tenant of listAll((after: TenantId | undefined) =>
        store.listTenants({ after, limit: PAGE_SIZE }),
      )) {
        const records = listAll((after: RunId | undefined) => store.listRuns({ tenant, after, limit: PAGE_SIZE }));
        for await (const record of records) yield runViewOf(store, record);
      }
    },
    async *counts() {},
    close: () => Promise.resolve(),
  };
}

function runViewOf(store: CoordinationStore, record: RunRecord): RunView {
  const { tenant, run } = record;
  return {
    tenant,
    run,
    record: { kind: "Found", record },
    async *shards(): AsyncGenerator<StoredShard> {
      const query = { tenant, run, limit: PAGE_SIZE, filter: ShardFilter.ALL, now: ANY_TIME };
      const records = listAll((after: ShardPosition | undefined) => store.listShards({ ...query, after }));
      for await (const shard of records) yield { shard: shard.shard, record: ok(shard) };
    },
    async *notes() {
      for (const space of NoteSpace.values) {
        const list = (start: Uint8Array | undefined = new Uint8Array()) =>
          store.listNotes({ tenant, run, space, start, end: undefined, limit: PAGE_SIZE });
        for await (const note of listAll(list)) yield ok(note);
      }
    },
    async *entries() {},
    entriesOf: () => [],
  };
}

/** All items of a list that is read in pages. */
async function* listAll<Item, Position>(
  list: (after: Position | undefined) => StoreAnswer<Page<Item, Position>>,
): AsyncGenerator<Item> {
  let after: Position | undefined;
  do {
    const page = await list(after);
    if (!page.ok) throw new PortFailure(page.error);
    yield* page.value.items;
    after = page.value.next;
  } while (after !== undefined);
}
