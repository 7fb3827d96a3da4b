import { SHARD_OP_LOG_CAP, type RunId, type ShardId } from "@gossip/contracts";
import type { OpLog, OpLogEntry } from "@gossip/coordination";
import { CrcShift } from "./crc-shift.ts";
import { updateCrc } from "./crc32c.ts";
import { OP_SIZE, putOp } from "./put-op.ts";
import { PLACE_COUNT, placeOf } from "./shard-places.ts";

/** Where the last entry of a full log begins. */
const LAST_AT = (SHARD_OP_LOG_CAP - 1) * OP_SIZE;

/** Bytes of a full log. */
export const LOG_SIZE: number = LAST_AT + OP_SIZE;

/** From the oldest entry to the end of the log. */
const BEHIND_OLDEST = /* @__PURE__ */ new CrcShift(LAST_AT);

/** A full log as it is stored. */
export interface EncodedLog {
  readonly bytes: Uint8Array;
  /** What its bytes lead the register of a checksum to from 0. */
  readonly register: number;
}

/** The bytes of a full log, and the log that they are of. */
interface KnownLog extends EncodedLog {
  /** `undefined` where the bytes are of none. */
  log: OpLog<OpLogEntry> | undefined;
  register: number;
  readonly view: DataView;
}

/**
 * Full logs that were encoded of late, so that the next one of the same shard need not be encoded anew.
 *
 * A shard that has been worked on for a while has sixteen entries in its log, two thirds of its record, and a
 * checkpoint changes one of them: the oldest goes and one comes behind the newest. Entries are values that
 * nobody writes to, so one that is the same object has the same bytes; and comparing
 * fifteen references spares looking at the sixty objects that those entries are made of. Nor is the checksum of the fifteen
 * found again: what the oldest did to it is taken out.
 *
 * Each place keeps the last log that came there. Whose it was does not matter: the entries tell. Places are made as they are needed. All of them take 200 KB, and the logs that
 * they keep from being collected a megabyte.
 */
export class LogTable {
  readonly #places: (KnownLog | undefined)[] = Array.from({ length: PLACE_COUNT });

  /** A full log as it is stored, borrowed until the next call. An entry that is none is an `InvariantViolation`. */
  encodedOf(log: OpLog<OpLogEntry>, run: RunId, shard: ShardId): EncodedLog {
    const place = (this.#places[placeOf(run, shard)] ??= makePlace());
    const { log: known, bytes, view } = place;
    if (known === log) return place;
    // Until all entries are there: one that is refused leaves bytes of neither log.
    place.log = undefined;
    if (known !== undefined && isContinued(known, log)) {
      const rest = place.register ^ BEHIND_OLDEST.of(updateCrc(0, view, 0, OP_SIZE));
      bytes.copyWithin(0, OP_SIZE);
      putOp(view, LAST_AT, log[SHARD_OP_LOG_CAP - 1]!);
      place.register = updateCrc(rest, view, LAST_AT, LOG_SIZE);
    } else {
      for (let index = 0; index < SHARD_OP_LOG_CAP; index++) putOp(view, index * OP_SIZE, log[index]!);
      place.register = updateCrc(0, view, 0, LOG_SIZE);
    }
    place.log = log;
    return place;
  }
}

function makePlace(): KnownLog {
  const bytes = new Uint8Array(LOG_SIZE);
  return { log: undefined, bytes, register: 0, view: new DataView(bytes.buffer) };
}

/** Whether `log` has all of `known` but the oldest, and one more. */
function isContinued(known: OpLog<OpLogEntry>, log: OpLog<OpLogEntry>): boolean {
  // From the newest on: logs that are not of one shard differ there already.
  for (let index = SHARD_OP_LOG_CAP - 1; index > 0; index--) {
    if (known[index] !== log[index - 1]) return false;
  }
  return true;
}

/** Shared by all writers: one record is encoded at a time and none waits. */
export const LOGS: LogTable = /* @__PURE__ */ new LogTable();
