// An operator learns from the error alone what happened to a record: cut off, rotten, of a newer program,
// or wrong from the start. Each of these must have its own kind, and none may quote the keys that it found.

import { MAX_KEY_SIZE, type LogicalTime, type OpId, type ShardId } from "@gossip/contracts";
import type { OpLogEntry, PayloadHash, RunRecord, ShardRecord } from "@gossip/coordination";
import { InfraError } from "@gossip/coordination-errors";
import { Redacted } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codecErrorInWords, corruptionFrom, type CodecError } from "./codec-error.ts";
import { decodeRunRecord } from "./decode-run-record.ts";
import { decodeShardRecord } from "./decode-shard-record.ts";
import { encodeDeletedRun } from "./deleted-run.ts";
import { resealed, runBlob, sealed, shardBlob } from "./layout.fixture.ts";
import { activeRun, BUSY_SHARD, DONE_RUN, FRESH_SHARD, PARKED_SHARD, SPLIT_SHARD } from "./samples.fixture.ts";

const shard = (fields: Partial<ShardRecord>): Uint8Array => shardBlob({ ...FRESH_SHARD, ...fields }, 2);
const run = (fields: Partial<RunRecord>): Uint8Array => runBlob({ ...DONE_RUN, ...fields }, 2);
const filled = (size: number): Uint8Array => new Uint8Array(size).fill(0x62);

/** The blob with some bytes replaced, and a checksum that fits. */
function patched(blob: Uint8Array, at: number, ...bytes: number[]): Uint8Array {
  const copy = blob.slice();
  copy.set(bytes, at);
  return resealed(copy);
}

const STATUS_AT = 51;
const PARK_REASON_AT = 52;
const START_AT = 53;
const FRESH = shard({});
const entry = (fields: Partial<OpLogEntry>): OpLogEntry => ({ ...BUSY_SHARD.opLog[0]!, ...fields });

type Case = readonly [name: string, blob: Uint8Array, error: CodecError];

const SHARD_CASES: readonly Case[] = [
  ["nothing", new Uint8Array(0), { kind: "Truncated", needed: 3, remaining: 0 }],
  ["a checksum that does not fit in", sealed(FRESH).subarray(0, 5), { kind: "Truncated", needed: 4, remaining: 2 }],
  [
    "a key that is longer than the rest",
    patched(FRESH, START_AT, 0xff),
    { kind: "Truncated", needed: 255, remaining: FRESH.length - START_AT - 8 },
  ],
  ["text", new TextEncoder().encode('{"tenant":1}'), { kind: "InvalidVersionPrefix" }],
  ["version 0", Uint8Array.of(0x76, 0x30, 2, ...FRESH.subarray(3)), { kind: "InvalidVersionPrefix" }],
  ["version 10, as it were", Uint8Array.of(0x76, 0x3a, 2, ...FRESH.subarray(3)), { kind: "InvalidVersionPrefix" }],
  ["version 3", Uint8Array.of(0x76, 0x33, 2, ...FRESH.subarray(3)), { kind: "NewerVersion", version: 3, newest: 2 }],
  ["version 9", Uint8Array.of(0x76, 0x39, 200), { kind: "NewerVersion", version: 9, newest: 2 }],
  ["kind 0", patched(FRESH, 2, 0), { kind: "InvalidBlobKind", actual: 0 }],
  ["a deleted run in version 1", Uint8Array.of(0x76, 0x31, 4), { kind: "InvalidBlobKind", actual: 4 }],
  ["an owner in version 2", patched(FRESH, 2, 3), { kind: "InvalidBlobKind", actual: 3 }],
  ["a run", run({}), { kind: "UnexpectedBlobKind", expected: "Shard", actual: "Run" }],
  [
    "a deleted run",
    encodeDeletedRun(DONE_RUN),
    { kind: "UnexpectedBlobKind", expected: "Shard", actual: "DeletedRun" },
  ],
  ["one byte more", Uint8Array.of(...FRESH, 0), { kind: "ChecksumMismatch", size: FRESH.length + 1 }],
  [
    "a mark of presence that is 2",
    patched(FRESH, PARK_REASON_AT, 2),
    { kind: "InvalidBool", field: "parkReason", actual: 2 },
  ],
  ["status 4", patched(FRESH, STATUS_AT, 4), { kind: "InvalidEnum", field: "status", actual: 4 }],
  [
    "park reason 5",
    patched(shardBlob(PARKED_SHARD, 2), PARK_REASON_AT + 1, 5),
    { kind: "InvalidEnum", field: "parkReason", actual: 5 },
  ],
  [
    "the largest size that is looked at",
    patched(FRESH, START_AT, 0, 0, 0x10, 0),
    { kind: "Truncated", needed: 1 << 20, remaining: FRESH.length - START_AT - 8 },
  ],
  [
    "one above it",
    patched(FRESH, START_AT, 1, 0, 0x10, 0),
    { kind: "FieldTooLarge", field: "spec.keyRangeStart", actual: (1 << 20) + 1, max: 1 << 20 },
  ],
  [
    "a size that is no size",
    patched(FRESH, START_AT, 0, 0, 0x10, 0x80),
    { kind: "FieldTooLarge", field: "spec.keyRangeStart", actual: 0x8010_0000, max: 1 << 20 },
  ],
  [
    "a bound that is too long",
    shard({ spec: { ...FRESH_SHARD.spec, keyRangeStart: filled(MAX_KEY_SIZE + 1) } }),
    { kind: "InvalidSpec", reason: { kind: "KeyTooLarge", size: MAX_KEY_SIZE + 1, max: MAX_KEY_SIZE } },
  ],
  [
    "bounds the wrong way round",
    shard({ spec: { ...FRESH_SHARD.spec, keyRangeEnd: filled(2) } }),
    { kind: "InvalidSpec", reason: { kind: "InvertedRange", startLen: 16, endLen: 2 } },
  ],
  [
    "an empty last key",
    shard({ cursor: { lastKey: filled(0), token: undefined } as ShardRecord["cursor"] }),
    { kind: "InvalidCursor", reason: { kind: "EmptyLastKey" } },
  ],
  [
    "a token without a key",
    shard({ cursor: { lastKey: undefined, token: filled(1) } as ShardRecord["cursor"] }),
    { kind: "InvalidCursor", reason: { kind: "TokenWithoutKey" } },
  ],
  [
    "an empty token",
    shard({ cursor: { lastKey: filled(1), token: filled(0) } as ShardRecord["cursor"] }),
    { kind: "InvalidCursor", reason: { kind: "EmptyToken" } },
  ],
  [
    "a token that is too long",
    shard({ cursor: { lastKey: filled(1), token: filled(16_385) } as ShardRecord["cursor"] }),
    { kind: "InvalidCursor", reason: { kind: "TokenTooLarge", size: 16_385, max: 16_384 } },
  ],
  [
    "17 logged operations",
    shard({ opLog: Array.from({ length: 17 }, () => entry({})) }),
    { kind: "FieldTooLarge", field: "opLog", actual: 17, max: 16 },
  ],
  [
    "1,025 spawned",
    shard({ spawned: Array.from({ length: 1025 }, (_, index) => ((1n << 63n) | BigInt(index)) as ShardId) }),
    { kind: "FieldTooLarge", field: "spawned", actual: 1025, max: 1024 },
  ],
  [
    "a byte behind the last field",
    sealed(Uint8Array.of(...FRESH.subarray(0, -4), 7)),
    { kind: "TrailingBytes", remaining: 1 },
  ],
  ...inOrder("Shard", [
    [
      "the same spawned twice",
      shardBlob({ ...SPLIT_SHARD, spawned: [SPLIT_SHARD.spawned[0]!, SPLIT_SHARD.spawned[0]!] }, 2),
      "no shard may be spawned twice",
    ],
    [
      "a logged hash of zero",
      shard({ opLog: [entry({ payloadHash: 0n as PayloadHash })] }),
      "no logged payload hash may be zero",
    ],
    [
      "a logged time of zero",
      shard({ opLog: [entry({ executedAt: 0n as LogicalTime })] }),
      "no logged time may be zero",
    ],
    ["an op id logged twice", shard({ opLog: [entry({}), entry({})] }), "no op id may be logged twice"],
    [
      "times that go back",
      shard({
        opLog: [entry({ executedAt: 9n as LogicalTime }), entry({ opId: 1n as OpId, executedAt: 8n as LogicalTime })],
      }),
      "logged times must not go back",
    ],
    ["no fence", shard({ fenceEpoch: 0n as ShardRecord["fenceEpoch"] }), "the fence must be at least 1"],
    [
      "a lease of a shard that is done",
      shard({ status: "Done", lease: BUSY_SHARD.lease }),
      "a terminal shard must have no lease",
    ],
    [
      "a cursor outside",
      shard({ cursor: { lastKey: filled(1), token: undefined } as ShardRecord["cursor"] }),
      "the cursor's key must lie within the range",
    ],
  ]),
];

const RUN_CASES: readonly Case[] = [
  ["semantics 2", patched(run({}), 43, 2), { kind: "InvalidEnum", field: "config.cursorSemantics", actual: 2 }],
  [
    "10,001 shards",
    run({ rootShards: activeRun(10_001).rootShards }),
    { kind: "FieldTooLarge", field: "rootShards", actual: 10_001, max: 10_000 },
  ],
  [
    "10,001 registered shards",
    run({ opLog: activeRun(10_001).opLog }),
    { kind: "FieldTooLarge", field: "opLog.result.shards", actual: 10_001, max: 10_000 },
  ],
  [
    "a count above the bytes that are left",
    patched(run({ opLog: [] }), run({ opLog: [] }).length - 16, 8),
    { kind: "Truncated", needed: 208, remaining: 8 },
  ],
  ["an answer without a number", answer(0), { kind: "InvalidEnum", field: "opLog.result", actual: 0 }],
  ["an answer with an unknown number", answer(3), { kind: "InvalidEnum", field: "opLog.result", actual: 3 }],
  ...inOrder("Run", [
    [
      "no lease duration",
      run({ config: { ...DONE_RUN.config, leaseDuration: 0n } }),
      "the configuration must be valid",
    ],
    ["no end", run({ completedAt: undefined }), "an end must be there exactly where it is terminal"],
    [
      "a logged hash of zero",
      run({ opLog: [{ ...DONE_RUN.opLog[1]!, payloadHash: 0n as PayloadHash }] }),
      "no logged payload hash may be zero",
    ],
    [
      "shards as the answer of a completion",
      run({ opLog: [{ ...DONE_RUN.opLog[0]!, kind: "CompleteRun" }] }),
      "a registration, and nothing else, must answer with shards",
    ],
    ["a root twice", run({ rootShards: [1n as ShardId, 1n as ShardId] }), "no root shard may be there twice"],
  ]),
];

function inOrder(
  blob: "Shard" | "Run",
  cases: readonly (readonly [name: string, bytes: Uint8Array, detail: string])[],
): Case[] {
  return cases.map(([name, bytes, detail]) => [name, bytes, { kind: "InvariantViolation", blob, detail }]);
}

/** A run whose one logged operation answers with this number. */
function answer(code: number): Uint8Array {
  const blob = run({ opLog: [DONE_RUN.opLog[1]!] });
  return patched(blob, blob.length - 13, code);
}

/** One of each kind, or it does not compile. */
const KINDS: Readonly<Record<CodecError["kind"], true>> = {
  Truncated: true,
  InvalidVersionPrefix: true,
  NewerVersion: true,
  InvalidBlobKind: true,
  UnexpectedBlobKind: true,
  ChecksumMismatch: true,
  InvalidBool: true,
  InvalidEnum: true,
  InvalidSpec: true,
  InvalidCursor: true,
  FieldTooLarge: true,
  TrailingBytes: true,
  InvariantViolation: true,
};

describe("each kind of damage has its own answer", () => {
  test.each(SHARD_CASES)("a shard: %s", (_name, blob, error) => {
    expect(decodeShardRecord(blob)).toEqual({ ok: false, error });
  });

  test.each(RUN_CASES)("a run: %s", (_name, blob, error) => {
    expect(decodeRunRecord(blob)).toEqual({ ok: false, error });
  });

  test("and every kind is met", () => {
    const met = new Set([...SHARD_CASES, ...RUN_CASES].map(([, , { kind }]) => kind));
    expect([...met].sort()).toEqual(Object.keys(KINDS).sort());
  });
});

describe("corruptionFrom", () => {
  test.each([...SHARD_CASES, ...RUN_CASES])("%s: tells it in a sentence and keeps the error", (_name, _blob, error) => {
    const corruption = corruptionFrom(error, "acquire.loadShard");
    expect(InfraError.isCorruption(corruption)).toBe(true);
    expect(InfraError.format(corruption)).toBe(`[corruption] acquire.loadShard: ${codecErrorInWords(error)}`);
    expect(Redacted.reveal(corruption.cause)).toBe(error);
  });
});

test("no error shows what the record holds", () => {
  // Letters that no sentence of ours has in this order, in every field that can hold them.
  const secret = new TextEncoder().encode("qjxzqjxz");
  const record: ShardRecord = {
    ...BUSY_SHARD,
    spec: { keyRangeStart: secret, keyRangeEnd: Uint8Array.of(0xff), metadata: secret } as ShardRecord["spec"],
    cursor: { lastKey: secret, token: secret } as ShardRecord["cursor"],
  };
  const blob = shardBlob(record, 2);
  expect(decodeShardRecord(blob).ok).toBe(true);
  const texts = [/qjxz/, /716a787a/i, /cWp4e/, /113, ?106/];
  fc.assert(
    fc.property(fc.nat({ max: blob.length - 5 }), fc.nat({ max: 255 }), (at, value) => {
      const decoded = decodeShardRecord(patched(blob, at, value));
      if (decoded.ok) return;
      const told = JSON.stringify(decoded.error) + codecErrorInWords(decoded.error);
      for (const text of texts) expect(told).not.toMatch(text);
    }),
    { numRuns: 2000 },
  );
});
