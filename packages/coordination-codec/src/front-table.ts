import type { ShardRecord } from "@gossip/coordination";
import { PLACE_COUNT, placeOf } from "./shard-places.ts";

/** A larger front, such as one with much metadata, is not kept. */
export const MAX_FRONT_SIZE = 1024;

/** The front of a shard's record as it is stored: all that comes before its cursor. */
export interface EncodedFront {
  readonly bytes: Uint8Array;
  /** What the register of the record's checksum is behind it. */
  readonly register: number;
}

/** How often others may want a place before they get it. Where many shards share one, it is of use to one of them, and not to none. */
const PATIENCE = 8;

interface KnownFront extends EncodedFront {
  /** The record that was encoded last with this front. */
  record: ShardRecord;
  /** How often others may still want the place before it is theirs. */
  patience: number;
}

/**
 * The fronts of shards' records that were encoded of late: which shard it is, its status and its range.
 *
 * A checkpoint changes nothing of them, and they are made of more objects than all the rest of a record but its log. A front is used again
 * for a record that follows on the one it was encoded for last, where all that is in it is the same in both. That
 * is for the caller to say, and is checked by the record, not by what is in it: a range may be on loan, and have other bytes tomorrow
 * in the same object.
 */
export class FrontTable {
  readonly #places: (KnownFront | undefined)[] = Array.from({ length: PLACE_COUNT });

  /** The front of `record`, where that of `before` is known and is the same. */
  frontOf(record: ShardRecord, before: ShardRecord): EncodedFront | undefined {
    const known = this.#places[placeOf(before.run, before.shard)];
    if (known === undefined || known.record !== before || !hasSameFront(record, before)) return undefined;
    known.record = record;
    known.patience = PATIENCE;
    return known;
  }

  /** Whether to keep the front of a record for which there was none. Each that asks brings the place nearer to being given away. */
  wants({ run, shard, tenant }: ShardRecord): boolean {
    const known = this.#places[placeOf(run, shard)];
    if (known === undefined) return true;
    const { record } = known;
    return (record.shard === shard && record.run === run && record.tenant === tenant) || --known.patience <= 0;
  }

  /** Keep the front that a record was encoded with. */
  keep(record: ShardRecord, { bytes, register }: EncodedFront): void {
    this.#places[placeOf(record.run, record.shard)] = { record, bytes, register, patience: PATIENCE };
  }
}

function hasSameFront(record: ShardRecord, before: ShardRecord): boolean {
  return (
    record.spec === before.spec &&
    record.status === before.status &&
    record.parkReason === before.parkReason &&
    record.shard === before.shard &&
    record.run === before.run &&
    record.tenant === before.tenant
  );
}

/** Shared by all writers: one record is encoded at a time and none waits. */
export const FRONTS: FrontTable = /* @__PURE__ */ new FrontTable();
