// What an encoder lets through and no decoder takes back is lost. Callers without a type checker pass anything, so: for
// anything in the place of any field, encoding refuses with a sentence, or decoding gives back just that.

import { InvariantViolation, type Result } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import type { CodecError } from "./codec-error.ts";
import { decodeRunRecord } from "./decode-run-record.ts";
import { decodeShardRecord } from "./decode-shard-record.ts";
import { decodeDeletedRun, encodeDeletedRun } from "./deleted-run.ts";
import { encodeRunRecord } from "./encode-run-record.ts";
import { encodeShardRecord } from "./encode-shard-record.ts";
import { BUSY_SHARD, DONE_RUN, FRESH_SHARD, PARKED_SHARD, SPLIT_SHARD } from "./samples.fixture.ts";

const ANYTHING: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  1,
  -1,
  0.5,
  Number.NaN,
  2 ** 32,
  2 ** 53,
  0n,
  1n,
  -1n,
  1n << 63n,
  (1n << 64n) - 1n,
  1n << 64n,
  "",
  "Active",
  "Parked",
  "Completed",
  "constructor",
  "__proto__",
  "ff".repeat(32),
  "FF".repeat(32),
  "f".repeat(63),
  Symbol.iterator,
  {},
  [],
  [undefined],
  [1],
  [0n],
  [1n << 63n],
  [-1n],
  [{}],
  [null],
  Object.assign([], { length: 3 }),
  Object.assign([], { length: 20_000 }),
  () => 1,
  new Uint8Array(0),
  Uint8Array.of(0x62),
  new Uint8Array(4097),
  new Uint8Array(16_385),
  new Uint16Array(1),
  new ArrayBuffer(1),
  Object.create(Uint8Array.prototype),
];

/** Every place in a value: `spec.metadata`, `opLog.0.kind`. */
function pathsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...pathsOf(inner).map((path) => `${name}.${path}`)]);
}

function replaced(value: unknown, path: readonly string[], by: unknown): unknown {
  if (path.length === 0) return by;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<string, unknown>;
  copy[path[0]!] = replaced(copy[path[0]!], path.slice(1), by);
  return copy;
}

interface Codec<T> {
  readonly encode: (value: T) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => Result<T, CodecError>;
}

function expectRefusedOrKept<T>({ encode, decode }: Codec<T>, value: unknown, place: string): boolean {
  let blob: Uint8Array;
  try {
    blob = encode(value as T);
  } catch (error) {
    expect(error, place).toBeInstanceOf(InvariantViolation);
    expect((error as Error).message, place).toMatch(/must|no |is not in order/);
    return false;
  }
  expect(decode(blob), place).toEqual({ ok: true, value });
  return true;
}

const SHARD = { encode: encodeShardRecord, decode: decodeShardRecord };
const RUN = { encode: encodeRunRecord, decode: decodeRunRecord };
const DELETED = { encode: encodeDeletedRun, decode: decodeDeletedRun };

describe("anything in the place of any field is refused or kept", () => {
  test.each([
    ["a fresh shard", FRESH_SHARD, SHARD],
    ["a held shard", { ...BUSY_SHARD, opLog: BUSY_SHARD.opLog.slice(0, 2) }, SHARD],
    ["a split shard", SPLIT_SHARD, SHARD],
    ["a parked shard", PARKED_SHARD, SHARD],
    ["a run", DONE_RUN, RUN],
    ["a deleted run", { tenant: DONE_RUN.tenant, run: DONE_RUN.run }, DELETED],
  ] as readonly [string, object, Codec<object>][])("%s", (_name, record, codec) => {
    let kept = 0;
    let refused = 0;
    for (const path of ["", ...pathsOf(record)]) {
      for (const anything of ANYTHING) {
        const value = replaced(record, path === "" ? [] : path.split("."), anything);
        if (expectRefusedOrKept(codec, value, path)) kept++;
        else refused++;
      }
    }
    expect(kept).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(kept);
  });
});

test("what is no bytes is not decoded", () => {
  for (const bad of [
    undefined,
    null,
    "v2",
    5,
    [0x76],
    new Uint16Array(4),
    new DataView(new ArrayBuffer(4)),
    Object.create(Uint8Array.prototype),
  ]) {
    for (const { decode } of [SHARD, RUN, DELETED]) expect(() => decode(bad as Uint8Array)).toThrow(InvariantViolation);
  }
});
