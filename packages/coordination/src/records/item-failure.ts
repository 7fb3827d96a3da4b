import { MAX_KEY_SIZE, type LogicalTime, type ShardId, type WorkerId } from "@gossip/contracts";
import { JsonReader } from "@gossip/contracts/internal";
import type { InfraError } from "@gossip/coordination-errors";
import { assert, assertBytes, assertCount, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { boundText } from "./note-text.ts";
import { decodeNoteValue, encodeNoteValue } from "./note-value.ts";
import type { Note, NoteWrite } from "./note.ts";

/** Why an item was skipped. `Other` also stands for a reason that only a later version knows. */
export type FailureReason = "ItemFailed" | "Unreadable" | "Crashed" | "TimedOut" | "ResultRefused" | "Other";

export const FAILURE_REASONS: readonly FailureReason[] = [
  "ItemFailed",
  "Unreadable",
  "Crashed",
  "TimedOut",
  "ResultRefused",
  "Other",
];

/** Size limit of an error text in a note. A longer one is cut. */
export const MAX_ERROR_TEXT_SIZE = 1024;

/** Size limit of the name of a worker, its host or its version. A longer one is cut. */
export const MAX_WORKER_TEXT_SIZE = 256;

const U32_MAX = 0xffff_ffff;

/** An item that a worker gives up on, for the ledger of its run. *Addition.* */
export interface FailureInput {
  /** The item's key. Not above the cursor of the checkpoint that passes it. */
  readonly key: Uint8Array;
  /** How often the item was tried, at least once. */
  readonly attempts: number;
  readonly reason: FailureReason;
  /** The error of the user's job. It is the tenant's data, and kept out of errors, events and logs. */
  readonly error: string;
  /** The worker's name, which outlives its registration here. */
  readonly workerName?: string | undefined;
}

/** An item in the ledger of a run: a checkpoint moved past it although it failed. *Addition.* */
export interface ItemFailure {
  readonly key: Uint8Array;
  readonly attempts: number;
  readonly reason: FailureReason;
  readonly error: string;
  /** The time of the checkpoint that moved past the item. */
  readonly at: LogicalTime;
  readonly shard: ShardId;
  readonly worker: WorkerId;
  readonly workerName: string | undefined;
}

type StoredFailure = Omit<ItemFailure, "key">;

const readReason: JsonReader<FailureReason> = (json) =>
  ok(FAILURE_REASONS.find((reason) => reason === json) ?? "Other");

const readStored: JsonReader<StoredFailure> = /* @__PURE__ */ JsonReader.object<StoredFailure>({
  attempts: JsonReader.count,
  reason: readReason,
  error: JsonReader.text,
  at: JsonReader.u64,
  shard: JsonReader.u64,
  worker: JsonReader.u64,
  workerName: /* @__PURE__ */ JsonReader.optional(JsonReader.text),
});

/** The checkpoint that records failures: when, and by which worker. */
export interface FailureContext {
  readonly at: LogicalTime;
  readonly shard: ShardId;
  readonly worker: WorkerId;
}

/** The note of a failure. Throws on malformed input. */
export function noteOfFailure(failure: FailureInput, { at, shard, worker }: FailureContext): NoteWrite {
  assertObject(failure, "failure");
  const { key, attempts, reason, error, workerName } = failure;
  assertBytes(key, "key of a failure");
  assertCount(key.length, "size of the key of a failure", { min: 0, max: MAX_KEY_SIZE });
  assertCount(attempts, "attempts of a failure", { min: 1, max: U32_MAX });
  assert(FAILURE_REASONS.includes(reason), "reason of a failure must be one of FAILURE_REASONS");
  const document: StoredFailure = {
    attempts,
    reason,
    error: boundText(error, "error of a failure", MAX_ERROR_TEXT_SIZE),
    at,
    shard,
    worker,
    workerName: workerName && boundText(workerName, "name of a worker", MAX_WORKER_TEXT_SIZE),
  };
  return { space: "failure", key: key.slice(), value: encodeNoteValue(document) };
}

/** The failure in a note. */
export function failureOfNote({ key, value }: Note): Result<ItemFailure, InfraError> {
  const stored = decodeNoteValue(value, readStored);
  return stored.ok ? ok({ key, ...stored.value }) : stored;
}
