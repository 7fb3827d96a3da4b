import { err, ok, type Result } from "@gossip/stdx";
import { isPhysicalMs } from "@gossip/tso";

/**
 * What the high-water key holds: sixteen hex digits of the bound, a space, sixteen of the lease under which it was
 * written. As text it sorts by the bound, so that etcd itself can see to it that the bound only grows.
 */
export interface HighWaterRecord {
  readonly highWaterMs: number;
  /** The lease of the leader who wrote it: as long as it lives, that leader may believe that it leads. */
  readonly leaseId: bigint;
}

const RECORD = /^([0-9a-f]{16}) ([0-9a-f]{16})$/u;

export function encodeHighWater({ highWaterMs, leaseId }: HighWaterRecord): string {
  return `${hex16(BigInt(highWaterMs))} ${hex16(leaseId)}`;
}

export function decodeHighWater(text: string): Result<HighWaterRecord, { readonly kind: "CorruptHighWater" }> {
  const match = RECORD.exec(text);
  const highWaterMs = match === null ? Number.NaN : Number(`0x${match[1]!}`);
  if (match === null || !isPhysicalMs(highWaterMs)) return err({ kind: "CorruptHighWater" });
  return ok({ highWaterMs, leaseId: BigInt(`0x${match[2]!}`) });
}

/** The least text of any record with this bound. */
export function leastTextAt(highWaterMs: number): string {
  return hex16(BigInt(highWaterMs));
}

function hex16(value: bigint): string {
  return value.toString(16).padStart(16, "0");
}
