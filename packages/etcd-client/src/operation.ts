import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { integerOf, listOf, objectOf, type Json } from "./json-answer.ts";
import { encodeText, encodeValue, readRange, type KeyValue, type RangeResult } from "./key-value.ts";

/**
 * A condition on one key, or on every key of a range.
 *
 * For a missing key, revisions are 0 and a comparison of values never holds. The same applies to an empty range:
 * "created at revision 0" holds exactly if the range is empty.
 */
export type Compare = { readonly key: string; readonly end?: string; readonly is: "EQUAL" | "LESS" | "GREATER" } & (
  | { readonly target: "CREATE" | "MOD"; readonly revision: bigint }
  | { readonly target: "VALUE"; readonly value: string | Uint8Array }
);

/** What to read: one key, or with `end` the half-open range from `get` to `end`. */
export interface GetOperation {
  readonly get: string;
  readonly end?: string;
  /** Maximum number of keys to return; all by default. etcd still scans the whole range to count it. */
  readonly limit?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
  /** By key by default. To sort by value, etcd reads the whole range. */
  readonly sort?: "VALUE_ASCEND";
  /** The revision to read; the latest by default. */
  readonly revision?: bigint;
}

export interface PutOperation {
  readonly put: string;
  readonly value: string | Uint8Array;
  readonly leaseId?: bigint;
}

export interface DeleteOperation {
  readonly delete: string;
  readonly end?: string;
}

/** All of `success` if every comparison holds, else all of `failure`. */
export interface Txn {
  readonly compare: readonly Compare[];
  readonly success: readonly TxnOperation[];
  readonly failure?: readonly TxnOperation[];
}

/**
 * The operations of a transaction. A nested transaction has its own conditions, which are all evaluated before anything
 * is written.
 */
export type TxnOperation = GetOperation | PutOperation | DeleteOperation | { readonly txn: Txn };

/** The result of one operation. */
export type OperationResult =
  | ({ readonly kind: "Get" } & RangeResult)
  | { readonly kind: "Put" }
  | { readonly kind: "Delete"; readonly deleted: number }
  | ({ readonly kind: "Txn" } & InnerTxnResult);

export interface InnerTxnResult {
  readonly succeeded: boolean;
  /** One per executed operation, in order. */
  readonly results: readonly OperationResult[];
}

/** The first key that the get at `index` found. */
export function foundAt({ results }: InnerTxnResult, index: number): KeyValue | undefined {
  const result = results[index];
  return result?.kind === "Get" ? result.kvs[0] : undefined;
}

// The objects below become JSON, which leaves out fields that are `undefined`.

export function encodeTxn(txn: Txn): object {
  assertObject(txn, "a transaction of etcd");
  const { compare, success, failure = [] } = txn;
  assert(
    Array.isArray(compare) && Array.isArray(success) && Array.isArray(failure),
    "conditions and operations of a transaction come in arrays",
  );
  return {
    compare: compare.map(encodeCompare),
    success: success.map(encodeOperation),
    failure: failure.map(encodeOperation),
  };
}

export function encodeGet(operation: GetOperation): object {
  assertObject(operation, "what to look at in etcd");
  const { get, end, limit, keysOnly, countOnly, sort, revision } = operation;
  return {
    ...encodeKeys(get, end),
    limit: limit?.toString(),
    keys_only: keysOnly || undefined,
    count_only: countOnly || undefined,
    ...(sort === undefined ? {} : { sort_order: "ASCEND", sort_target: "VALUE" }),
    revision: revision?.toString(),
  };
}

export function encodePut(operation: PutOperation): object {
  assertObject(operation, "what to put into etcd");
  const { put, value, leaseId } = operation;
  return { key: encodeText(put), value: encodeValue(value), lease: leaseId?.toString() };
}

/** One key, or with `end` the half-open range from it to `end`. */
export function encodeKeys(key: string, end: string | undefined): object {
  return { key: encodeText(key), range_end: end === undefined ? undefined : encodeText(end) };
}

export function readTxn(answer: Json): InnerTxnResult {
  return { succeeded: answer["succeeded"] === true, results: listOf(answer["responses"]).map(readResult) };
}

/** The end of the range of all keys that begin with `prefix`, for keys of plain ASCII. */
export function prefixEnd(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1);
  assert(last < 0x7f, "a prefix of keys is not empty and ends in a character of plain ASCII");
  return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}

function encodeCompare(compare: Compare): object {
  assertObject(compare, "a condition of a transaction");
  const common = { ...encodeKeys(compare.key, compare.end), target: compare.target, result: compare.is };
  if (compare.target === "VALUE") return { ...common, value: encodeValue(compare.value) };
  return { ...common, [compare.target === "CREATE" ? "create_revision" : "mod_revision"]: compare.revision.toString() };
}

function encodeOperation(operation: TxnOperation): object {
  assertObject(operation, "an operation of a transaction");
  if ("get" in operation) return { request_range: encodeGet(operation) };
  if ("txn" in operation) return { request_txn: encodeTxn(operation.txn) };
  if ("delete" in operation) return { request_delete_range: encodeKeys(operation.delete, operation.end) };
  return { request_put: encodePut(operation) };
}

function readResult(response: Json): OperationResult {
  if ("response_txn" in response) return { kind: "Txn", ...readTxn(objectOf(response["response_txn"])) };
  if ("response_put" in response) return { kind: "Put" };
  if ("response_delete_range" in response) {
    return { kind: "Delete", deleted: Number(integerOf(objectOf(response["response_delete_range"])["deleted"])) };
  }
  return { kind: "Get", ...readRange(objectOf(response["response_range"])) };
}
