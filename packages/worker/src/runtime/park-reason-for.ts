import type { ParkReason } from "@gossip/contracts";
import { ParkShard } from "./park-shard.ts";

const REASON_OF_CODE: Readonly<Record<string, ParkReason>> = {
  EACCES: "PermissionDenied",
  EPERM: "PermissionDenied",
  ENOENT: "NotFound",
  ENOTDIR: "NotFound",
};

/** The reason that fits what was thrown: its own, that of its error code, or `otherwise`. */
export function parkReasonFor(cause: unknown, otherwise: ParkReason): ParkReason {
  if (cause instanceof ParkShard) return cause.reason;
  const code: unknown = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return (typeof code === "string" ? REASON_OF_CODE[code] : undefined) ?? otherwise;
}
