import { MAX_KEY_SIZE, type RangeInput } from "@gossip/contracts";
import { err, ok, type Result } from "@gossip/stdx";
import { encodeTuple } from "./encode-tuple.ts";
import { isTerminated } from "./measure-tuple.ts";
import { prefixSuccessor } from "../arithmetic/prefix-successor.ts";
import { ALL_ASCENDING, isDescending, type PartOrder, type TupleElement } from "./tuple-element.ts";
import type { TupleEncodeError } from "./tuple-error.ts";

/** Lowest byte with which a further part can begin. */
const LOWEST = 0x00;
/** Above every byte with which a further ascending part can begin. */
const ABOVE_ASCENDING = 0xff;

/**
 * The range of all tuples that begin with `prefix` and have more parts: those and no others.
 *
 * It is the same as FoundationDB's, and excludes the tuple `prefix` itself. If the next part
 * descends, its first byte may be `ff`; then the range ends above everything that starts
 * with the prefix's bytes, and has no end (an empty one) if there is no such key.
 */
export function tupleRange(
  prefix: readonly TupleElement[],
  order: readonly PartOrder[] = ALL_ASCENDING,
): Result<RangeInput, TupleEncodeError> {
  const encoded = encodeTuple(prefix, order);
  if (!encoded.ok) return encoded;
  const size = encoded.value.length + 1;
  if (size > MAX_KEY_SIZE) return err({ kind: "KeyTooLarge", size, max: MAX_KEY_SIZE });

  const start = append(encoded.value, LOWEST);
  if (!mayBeginWithHighest(prefix, order)) return ok({ start, end: append(encoded.value, ABOVE_ASCENDING) });
  return ok({ start, end: prefixSuccessor(encoded.value) ?? new Uint8Array(0) });
}

/** Whether the part behind `prefix` can begin with `ff`: the complement of null, which may not follow a terminator of the other direction. */
function mayBeginWithHighest(prefix: readonly TupleElement[], order: readonly PartOrder[]): boolean {
  if (!isDescending(order, prefix.length)) return false;
  return isDescending(order, prefix.length - 1) || !isTerminated(prefix.at(-1));
}

function append(bytes: Uint8Array, byte: number): Uint8Array {
  const longer = new Uint8Array(bytes.length + 1);
  longer.set(bytes);
  longer[bytes.length] = byte;
  return longer;
}
