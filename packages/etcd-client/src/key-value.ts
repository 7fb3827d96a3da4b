import { assert } from "@gossip/stdx";
import { integerOf, listOf, type Json } from "./json-answer.ts";

/** A key and its value at some revision. */
export interface KeyValue {
  readonly key: string;
  /** Empty if only keys were requested. `toString()` returns it as text. */
  readonly value: Buffer;
  /** The revision at which the key was created. */
  readonly createRevision: bigint;
  /** The revision at which it was last written. */
  readonly modRevision: bigint;
  /** How often the key was put since it was created. */
  readonly version: bigint;
  readonly leaseId: bigint;
}

/** The result of reading a range. */
export interface RangeResult {
  readonly kvs: readonly KeyValue[];
  /** How many keys there are in the whole range, whatever the limit. */
  readonly count: number;
  /** Whether the range has more keys than were returned. */
  readonly more: boolean;
}

export function readRange(range: Json): RangeResult {
  return {
    kvs: listOf(range["kvs"]).map(readKeyValue),
    count: Number(integerOf(range["count"])),
    more: range["more"] === true,
  };
}

export function encodeText(text: string): string {
  assert(typeof text === "string", () => `keys and texts of etcd are strings, got ${typeof text}`);
  return Buffer.from(text, "utf8").toString("base64");
}

export function encodeValue(value: string | Uint8Array): string {
  if (typeof value === "string") return encodeText(value);
  assert(value instanceof Uint8Array, () => `a value of etcd is text or bytes, got ${typeof value}`);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
}

function readKeyValue(kv: Json): KeyValue {
  return {
    key: decode(kv["key"]).toString("utf8"),
    value: decode(kv["value"]),
    createRevision: integerOf(kv["create_revision"]),
    modRevision: integerOf(kv["mod_revision"]),
    version: integerOf(kv["version"]),
    leaseId: integerOf(kv["lease"]),
  };
}

function decode(value: unknown): Buffer {
  return Buffer.from(typeof value === "string" ? value : "", "base64");
}
