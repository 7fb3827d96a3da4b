import { MAX_KEY_SIZE, type LogicalTime, type ShardId, type WorkerId } from "@gossip/contracts";
import { JsonReader } from "@gossip/contracts/internal";
import type { InfraError } from "@gossip/coordination-errors";
import { assertBytes, assertCount, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { MAX_ERROR_TEXT_SIZE, MAX_WORKER_TEXT_SIZE, type FailureContext } from "./item-failure.ts";
import { noteKeyOfId, tryIdOfNoteKey } from "./note-id.ts";
import { boundText } from "./note-text.ts";
import { damagedNote, decodeNoteValue, encodeNoteValue } from "./note-value.ts";
import type { Note, NoteWrite } from "./note.ts";

const U32_MAX = 0xffff_ffff;

/** What went wrong before a shard was parked. *Addition.* */
export interface ParkDetailInput {
  /** The item, if one is to blame. */
  readonly item?: Uint8Array | undefined;
  /** How often it was tried. */
  readonly attempts: number;
  /** The error of the user's job. It is the tenant's data, and kept out of errors, events and logs. */
  readonly error: string;
  readonly workerName?: string | undefined;
}

/** Why a shard is parked, beyond its reason. Removed when the shard is unparked. *Addition.* */
export interface ParkedDetail {
  readonly shard: ShardId;
  readonly item: Uint8Array | undefined;
  readonly attempts: number;
  readonly error: string;
  readonly at: LogicalTime;
  readonly worker: WorkerId;
  readonly workerName: string | undefined;
}

type StoredDetail = Omit<ParkedDetail, "shard">;

const readStored: JsonReader<StoredDetail> = /* @__PURE__ */ JsonReader.object<StoredDetail>({
  item: /* @__PURE__ */ JsonReader.optional(JsonReader.bytes),
  attempts: JsonReader.count,
  error: JsonReader.text,
  at: JsonReader.u64,
  worker: JsonReader.u64,
  workerName: /* @__PURE__ */ JsonReader.optional(JsonReader.text),
});

/** The note of a shard that is parked. Throws on malformed input. */
export function noteOfParked(detail: ParkDetailInput, { at, shard, worker }: FailureContext): NoteWrite {
  assertObject(detail, "detail of a parked shard");
  const { item, attempts, error, workerName } = detail;
  if (item !== undefined) {
    assertBytes(item, "item of a parked shard");
    assertCount(item.length, "size of the item of a parked shard", { min: 0, max: MAX_KEY_SIZE });
  }
  assertCount(attempts, "attempts of a parked shard", { min: 0, max: U32_MAX });
  const document: StoredDetail = {
    item,
    attempts,
    error: boundText(error, "error of a parked shard", MAX_ERROR_TEXT_SIZE),
    at,
    worker,
    workerName: workerName && boundText(workerName, "name of a worker", MAX_WORKER_TEXT_SIZE),
  };
  return { space: "parked", key: noteKeyOfId(shard), value: encodeNoteValue(document) };
}

/** Removes the note of a shard that is unparked. */
export function removalOfParked(shard: ShardId): NoteWrite {
  return { space: "parked", key: noteKeyOfId(shard), value: undefined };
}

/** The detail in a note. */
export function parkedOfNote({ key, value }: Note): Result<ParkedDetail, InfraError> {
  const shard = tryIdOfNoteKey<ShardId>(key);
  if (shard === undefined) return err(damagedNote());
  const stored = decodeNoteValue(value, readStored);
  return stored.ok ? ok({ shard, ...stored.value }) : stored;
}
