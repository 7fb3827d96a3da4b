import type { GetRunError } from "@gossip/coordination-errors";
import { assert, assertBytes, assertCount, ok, type Result } from "@gossip/stdx";
import { encodeBase64Url } from "@gossip/stdx/internal";
import { failureOfNote, type ItemFailure } from "../records/item-failure.ts";
import { parkedOfNote, type ParkedDetail } from "../records/parked-detail.ts";
import { MAX_NOTE_KEY_SIZE, type NoteWrite } from "../records/note.ts";
import type { Page } from "../store/store-reads.ts";
import type { Engine } from "./engine.ts";
import { countNotes, listNotes, writeNotes } from "./notes.ts";
import type { RunRequest } from "./queries.ts";

export interface ListFailuresRequest extends RunRequest {
  /** Most failures to return: 100 by default. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: Uint8Array | undefined;
  /** List only keys from `start` on, `end` not included. An empty `end` stands for the end of all keys. */
  readonly range?: { readonly start: Uint8Array; readonly end: Uint8Array } | undefined;
}

export interface CountFailuresRequest extends RunRequest {
  /** Where to stop counting: `MAX_COUNTED_FAILURES` by default. */
  readonly limit?: number;
}

export interface ResolveFailuresRequest extends RunRequest {
  /** The keys of items that are no longer failed. Any number; keys that are not in the ledger are ignored. */
  readonly keys: readonly Uint8Array[];
}

export interface ListParkedDetailsRequest extends RunRequest {
  /** Most details to return: 100 by default. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: Uint8Array | undefined;
}

/** Counting stops here by default. */
export const MAX_COUNTED_FAILURES = 1_000_000;

export function listFailures(
  engine: Engine,
  { tenant, run, limit, after, range }: ListFailuresRequest,
): Promise<Result<Page<ItemFailure, Uint8Array>, GetRunError>> {
  if (after !== undefined) assertBytes(after, "position in a list of failures");
  if (range !== undefined) {
    assertBytes(range.start, "start of a range");
    assertBytes(range.end, "end of a range");
  }
  const start = after ?? range?.start;
  const end = range === undefined || range.end.length === 0 ? undefined : range.end;
  return listNotes(engine, { tenant, run, space: "failure", start, end, limit, parse: failureOfNote });
}

export function countFailures(
  engine: Engine,
  { tenant, run, limit = MAX_COUNTED_FAILURES }: CountFailuresRequest,
): Promise<Result<number, GetRunError>> {
  return countNotes(engine, { tenant, run, space: "failure", limit });
}

/** Remove items from the ledger, a write set at a time. */
export async function resolveFailures(
  engine: Engine,
  { tenant, run, keys }: ResolveFailuresRequest,
): Promise<Result<void, GetRunError>> {
  assert(Array.isArray(keys), () => `keys must come in an array, got ${typeof keys}`);
  const removals = new Map<string, NoteWrite>();
  for (const key of keys) {
    assertBytes(key, "key of a failure");
    assertCount(key.length, "size of the key of a failure", { min: 0, max: MAX_NOTE_KEY_SIZE });
    removals.set(encodeBase64Url(key), { space: "failure", key, value: undefined });
  }
  const all = [...removals.values()];
  for (let from = 0; from < all.length; from += engine.maxNotesPerSet) {
    const written = await writeNotes(engine, { tenant, run }, all.slice(from, from + engine.maxNotesPerSet));
    if (!written.ok) return written;
  }
  return ok();
}

export function listParkedDetails(
  engine: Engine,
  { tenant, run, limit, after }: ListParkedDetailsRequest,
): Promise<Result<Page<ParkedDetail, Uint8Array>, GetRunError>> {
  if (after !== undefined) assertBytes(after, "position in a list of parked shards");
  return listNotes(engine, { tenant, run, space: "parked", start: after, limit, parse: parkedOfNote });
}
