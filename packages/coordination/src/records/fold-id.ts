import { HALVES, WHOLE } from "@gossip/stdx/internal";

/** Both halves of an id in one number: callers may count their ids in either. */
export function foldId(id: bigint): number {
  WHOLE[0] = id;
  return HALVES[0]! ^ HALVES[1]!;
}
