import { ParkReason } from "@gossip/contracts";
import type { SourceErrorKind } from "../sources/source-error.ts";
import { ParkShard } from "./park-shard.ts";

const REASON_OF_CODE: Readonly<Record<string, ParkReason>> = {
  EACCES: "PermissionDenied",
  EPERM: "PermissionDenied",
  ENOENT: "NotFound",
  ENOTDIR: "NotFound",
};

const REASON_OF_SOURCE: Readonly<Partial<Record<SourceErrorKind, ParkReason>>> = {
  SourceMissing: "NotFound",
  SourceInvalid: "Poisoned",
};

/**
 * The park reason for a thrown value: its own reason (a `ParkShard`, or any error with a field `parkReason`), the one
 * for its error code or source error, or `otherwise`.
 */
export function parkReasonFor(cause: unknown, otherwise: ParkReason): ParkReason {
  if (cause instanceof ParkShard) return cause.reason;
  const own = fieldOf(cause, "parkReason");
  if (ParkReason.is(own)) return own;
  const code = fieldOf(cause, "code");
  const sourceKind = fieldOf(fieldOf(cause, "error"), "kind");
  const byCode = typeof code === "string" && Object.hasOwn(REASON_OF_CODE, code) ? REASON_OF_CODE[code] : undefined;
  const bySource =
    typeof sourceKind === "string" && Object.hasOwn(REASON_OF_SOURCE, sourceKind)
      ? REASON_OF_SOURCE[sourceKind as SourceErrorKind]
      : undefined;
  return byCode ?? bySource ?? otherwise;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
