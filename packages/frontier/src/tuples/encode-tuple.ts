import { assert, err, isBytes, ok, type Result } from "@gossip/stdx";
import { assertKeyBuf, type KeyBuf } from "../keys/key-buf.ts";
import { measureTuple } from "./measure-tuple.ts";
import { ALL_ASCENDING, assertOrder, type PartOrder, type TupleElement } from "./tuple-element.ts";
import type { TupleEncodeError } from "./tuple-error.ts";
import { writeTuple } from "./write-tuple.ts";

/**
 * The bytes of a tuple, the same that FoundationDB's tuple layer gives it.
 *
 * Keys are in the order of their first parts, then of their second, and so on; a tuple comes before the longer ones
 * that it begins. A descending part is the complement of its whole encoding. FoundationDB has no such parts and cannot
 * decode them.
 */
export function encodeTuple(
  parts: readonly TupleElement[],
  order: readonly PartOrder[] = ALL_ASCENDING,
): Result<Uint8Array, TupleEncodeError> {
  const size = measure(parts, order);
  if (typeof size !== "number") return err(size);
  const bytes = new Uint8Array(size);
  writeTuple(parts, order, bytes);
  return ok(bytes);
}

/** Writes the bytes of a tuple into `out`, which is unchanged on an error. */
export function encodeTupleInto(
  parts: readonly TupleElement[],
  order: readonly PartOrder[],
  out: KeyBuf,
): Result<void, TupleEncodeError> {
  assertKeyBuf(out);
  const size = measure(parts, order);
  if (typeof size !== "number") return err(size);
  if (isViewedBy(out, parts)) {
    // Writing would overtake reading. Rare, so a copy is enough.
    const bytes = new Uint8Array(size);
    writeTuple(parts, order, bytes);
    out.copyFromSlice(bytes);
  } else {
    writeTuple(parts, order, out.bytes);
    out.commit(size);
  }
  return ok();
}

function measure(parts: readonly TupleElement[], order: readonly PartOrder[]): number | TupleEncodeError {
  if (!Array.isArray(parts)) assert(false, "tuple must be an array of its parts");
  assertOrder(order);
  return measureTuple(parts, order);
}

/** Whether some part, at any depth, is a view of `out`. */
function isViewedBy(out: KeyBuf, parts: readonly TupleElement[]): boolean {
  for (const part of parts) {
    if (typeof part !== "object" || part === null) continue;
    const isView = isBytes(part)
      ? out.isViewedBy(part)
      : "kind" in part
        ? out.isViewedBy(part.bytes)
        : isViewedBy(out, part);
    if (isView) return true;
  }
  return false;
}
