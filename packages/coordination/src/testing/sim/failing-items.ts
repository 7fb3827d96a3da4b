import type { Cursor } from "@gossip/contracts";
import type { FailureInput } from "../../records/item-failure.ts";
import type { ParkDetailInput } from "../../records/parked-detail.ts";

/** Whether the item with a key fails, in every worker and every time it is tried. About a third of them do. */
export function isFailing(key: Uint8Array): boolean {
  let sum = 0;
  for (const byte of key) sum = (sum * 31 + byte) % 65_521;
  return sum % 3 === 0;
}

/** What a worker records with a checkpoint: the item at the cursor, if that one fails. */
export function failuresAt({ lastKey }: Cursor): readonly FailureInput[] | undefined {
  if (lastKey === undefined || !isFailing(lastKey)) return undefined;
  return [{ key: lastKey, attempts: 1, reason: "ItemFailed", error: `size ${lastKey.length}` }];
}

/** What a worker records when it parks a shard. */
export const PARK_DETAIL: ParkDetailInput = Object.freeze({ attempts: 1, error: "simulated" });
