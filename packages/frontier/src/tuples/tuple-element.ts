import { assert } from "@gossip/stdx";

/**
 * One element of a tuple key.
 *
 * A bigint is an integer, to ±(2^64 − 1). A number is a double, whole or not: `1` and `1n` are different keys, and all
 * integers sort before all doubles. An array is a tuple within the tuple.
 */
export type TupleElement = null | boolean | bigint | number | string | Uint8Array | TupleUuid | readonly TupleElement[];

/** A UUID, 16 bytes. It sorts by its bytes. */
export interface TupleUuid {
  readonly kind: "Uuid";
  readonly bytes: Uint8Array;
}

/**
 * In which direction one part of a tuple sorts.
 *
 * The parts of a key and their directions are a schema: it is not in the bytes, so pass the same one to encode, decode
 * and range. Parts beyond its end ascend.
 */
export type PartOrder = "Ascending" | "Descending";

/** The schema of keys whose parts all ascend. */
export const ALL_ASCENDING: readonly PartOrder[] = /* @__PURE__ */ Object.freeze([]);

/** Tuples nested deeper than this are refused. */
export const MAX_TUPLE_DEPTH = 64;

/** Whether the part at an index descends. */
export function isDescending(order: readonly PartOrder[], partIndex: number): boolean {
  // The length first: reading past the end of an array is many times slower.
  return partIndex < order.length && order[partIndex] === "Descending";
}

/** Assert that a value lists directions of parts. */
export function assertOrder(order: unknown): asserts order is readonly PartOrder[] {
  if (order === ALL_ASCENDING) return;
  const isOrder = Array.isArray(order) && order.every((part) => part === "Ascending" || part === "Descending");
  if (!isOrder) assert(false, 'order must be an array of "Ascending" and "Descending"');
}
