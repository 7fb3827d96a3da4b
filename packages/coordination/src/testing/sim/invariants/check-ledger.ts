import { MAX_KEY_SIZE, type ShardId } from "@gossip/contracts";
import { assert, unwrap } from "@gossip/stdx";
import { encodeBase64Url } from "@gossip/stdx/internal";
import { completeHash, RANGE_EXHAUSTED } from "../../../hashing/payload-hash.ts";
import { tryIdOfNoteKey } from "../../../records/note-id.ts";
import type { NoteSpace } from "../../../records/note.ts";
import type { ShardRecord } from "../../../records/shard-record.ts";
import type { CoordinationStore } from "../../../store/coordination-store.ts";
import { isFailing } from "../failing-items.ts";
import type { LedgerFault, RunAddress, Violation } from "./violation.ts";

/** Small, so that the list of failures has several pages. */
const PAGE_SIZE = 5;

/**
 * The failing item that a write of a shard moved past, as text; `undefined` if there is none.
 *
 * Computed from the records alone, because the failures in the write are what is checked.
 */
export function failurePassed(before: ShardRecord | undefined, after: ShardRecord): string | undefined {
  const entry = after.opLog.at(-1);
  const key = after.cursor.lastKey;
  if (entry === undefined || entry.opId === before?.opLog.at(-1)?.opId || key === undefined) return undefined;
  const isMove =
    entry.kind === "Checkpoint" || (entry.kind === "Complete" && entry.payloadHash !== completeHash(RANGE_EXHAUSTED));
  return isMove && isFailing(key) ? encodeBase64Url(key) : undefined;
}

/** The ledger of a run must hold exactly the failing items that were passed, and exactly the parked shards must have a detail. */
export async function checkLedger(
  store: CoordinationStore,
  address: RunAddress,
  expected: { readonly failures: ReadonlySet<string>; readonly shards: Iterable<ShardRecord> },
): Promise<readonly Violation[]> {
  const failures = await readKeys(store, address, "failure");
  const parked = [...expected.shards].filter(isParkedByWorker).map(({ shard }) => String(shard));
  const details = (await readKeys(store, address, "parked")).map((key) => String(tryIdOfNoteKey<ShardId>(key)));
  return [
    ...compare(address, expected.failures, failures.map(encodeBase64Url)),
    ...compare(address, new Set(parked), details),
  ];
}

/** A shard that the coordinator parked for its attempts has no detail, and no entry in its log for that. */
function isParkedByWorker({ status, opLog }: ShardRecord): boolean {
  return status === "Parked" && opLog.at(-1)?.kind === "Park";
}

function compare(address: RunAddress, expected: ReadonlySet<string>, found: readonly string[]): readonly Violation[] {
  const fault = (which: LedgerFault): Violation => ({ kind: "Ledger", ...address, fault: which });
  const missing = [...expected].some((key) => !found.includes(key)) ? [fault("Missing")] : [];
  const stray = found.some((key) => !expected.has(key)) ? [fault("Stray")] : [];
  return [...missing, ...stray, ...(new Set(found).size < found.length ? [fault("Twice")] : [])];
}

async function readKeys(store: CoordinationStore, address: RunAddress, space: NoteSpace): Promise<Uint8Array[]> {
  const keys: Uint8Array[] = [];
  let start: Uint8Array | undefined = new Uint8Array();
  while (start !== undefined) {
    const query = { ...address, space, start, end: undefined, limit: PAGE_SIZE };
    const page: Awaited<ReturnType<CoordinationStore["listNotes"]>> = await store.listNotes(query);
    const { items, next } = unwrap(page);
    keys.push(...items.map(({ key }) => key));
    assert(next === undefined || next.length <= MAX_KEY_SIZE + 1, "a position is at most one byte longer than a key");
    start = next;
  }
  return keys;
}
