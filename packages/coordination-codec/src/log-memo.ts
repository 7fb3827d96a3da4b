import { SHARD_OP_LOG_CAP, type RunId, type ShardId } from "@gossip/contracts";
import type { OpLog, OpLogEntry } from "@gossip/coordination";
import { OP_SIZE } from "./limits.ts";
import { putOp } from "./put-op.ts";
import { HALVES, LOW, WHOLE } from "@gossip/stdx/internal";

/** Shards whose logs are kept at the same time, if their ids do not collide. A power of two. */
const SLOT_COUNT = 512;

/** Odd, so that shards of two runs, which often have the same ids, use different slots. */
const RUN_STEP = 61;

const LAST_AT = (SHARD_OP_LOG_CAP - 1) * OP_SIZE;

/** A full log and its bytes. `log` is `undefined` while the bytes belong to no log. */
interface Slot {
  log: OpLog<OpLogEntry> | undefined;
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/**
 * The full logs that one `RecordWriter` encoded recently, for the option `reusesLogs`.
 *
 * A checkpoint drops the oldest of sixteen log entries and appends one. The other fifteen are the same objects, and
 * entries are immutable, so their bytes are moved instead of encoded again: comparing fifteen references replaces
 * reading sixty objects, most of which no processor cache holds when many shards are worked on. A slot that belongs to
 * another shard only costs time. All slots take 200 KB and keep a megabyte of logs from being collected.
 *
 * Why it exists: decision 0021, with the measurement.
 */
export class LogMemo {
  readonly #slots: (Slot | undefined)[] = Array.from({ length: SLOT_COUNT });

  /** The bytes of a full log, valid until the next call. Throws `InvariantViolation` for a malformed entry. */
  encode(log: OpLog<OpLogEntry>, run: RunId, shard: ShardId): Uint8Array {
    const slot = (this.#slots[slotOf(run, shard)] ??= makeSlot());
    const { log: known, bytes, view } = slot;
    if (known === log) return bytes;
    // Until all entries are written: a malformed one leaves the bytes of neither log.
    slot.log = undefined;
    if (known !== undefined && isContinued(known, log)) {
      bytes.copyWithin(0, OP_SIZE);
      putOp(view, LAST_AT, log[SHARD_OP_LOG_CAP - 1]!);
    } else {
      for (let index = 0; index < SHARD_OP_LOG_CAP; index++) putOp(view, index * OP_SIZE, log[index]!);
    }
    slot.log = log;
    return bytes;
  }
}

function slotOf(run: RunId, shard: ShardId): number {
  WHOLE[0] = run;
  const ofRun = Math.imul(HALVES[LOW]!, RUN_STEP);
  WHOLE[0] = shard;
  return (ofRun + HALVES[LOW]!) & (SLOT_COUNT - 1);
}

function makeSlot(): Slot {
  const bytes = new Uint8Array(SHARD_OP_LOG_CAP * OP_SIZE);
  return { log: undefined, bytes, view: new DataView(bytes.buffer) };
}

/** Whether `log` is `known` without its oldest entry, and one more. */
function isContinued(known: OpLog<OpLogEntry>, log: OpLog<OpLogEntry>): boolean {
  // From the newest on: logs of different shards differ there already.
  for (let index = SHARD_OP_LOG_CAP - 1; index > 0; index--) {
    if (known[index] !== log[index - 1]) return false;
  }
  return true;
}
