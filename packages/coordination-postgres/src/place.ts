import type { ShardRecord } from "@gossip/coordination";

/** Where a shard is among those that are not finished. */
export interface Place {
  readonly status: string;
  /** When it can be claimed: its lease's deadline, zero where it has none. */
  readonly claimableAt: bigint;
}

/** `undefined`: it is finished, and nobody looks for it. */
export function placeOf({ status, lease }: ShardRecord): Place | undefined {
  switch (status) {
    case "Done":
      return undefined;
    case "Active":
      return { status, claimableAt: lease?.deadline ?? 0n };
    case "Split":
    case "Parked":
      return { status, claimableAt: 0n };
  }
}

export function isSamePlace(a: Place | undefined, b: Place | undefined): boolean {
  return a?.status === b?.status && a?.claimableAt === b?.claimableAt;
}
