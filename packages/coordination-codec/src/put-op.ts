import type { OpLogEntry } from "@gossip/coordination";
import { assertObject } from "./assert-object.ts";
import { OP_KIND, OP_RESULT } from "./enum-field.ts";
import { codeOf, putU64 } from "./put-field.ts";

/** Bytes of one entry in a shard's log. */
export const OP_SIZE = 26;

/** Put an entry of a shard's log at `at`. */
export function putOp(view: DataView, at: number, entry: OpLogEntry): void {
  assertObject(entry, "opLog entry");
  putU64(view, at, entry.opId, "opLog.opId");
  view.setUint8(at + 8, codeOf(OP_KIND, entry.kind));
  view.setUint8(at + 9, codeOf(OP_RESULT, entry.result));
  putU64(view, at + 10, entry.payloadHash, "opLog.payloadHash");
  putU64(view, at + 18, entry.executedAt, "opLog.executedAt");
}
