// Errors end in logs, and a logger that meets a bigint throws on the way out of a failure. What they tell must help; what they must not
// tell is a key.
import { toJsonSafe } from "@gossip/contracts";
import { describe, expect, test } from "vitest";
import { ERROR_TYPES } from "./error-samples.fixture.ts";
import { frontierErrorMessage, type FrontierError } from "./frontier-error-message.ts";
import { ascii, filled, hex } from "./keys.fixture.ts";
import { prefixShard, rangeShard } from "./shards/shard-constructors.ts";

const samples = Object.entries(ERROR_TYPES).flatMap(([type, kinds]) =>
  Object.values(kinds).map((error: FrontierError) => ({ type, kind: error.kind, error })),
);

test("the error types of the seeds have the variants of the seeds, by number", () => {
  const counts = Object.fromEntries(
    Object.entries(ERROR_TYPES).map(([type, kinds]) => [type, Object.keys(kinds).length]),
  );
  expect(counts).toEqual({
    PrefixShardError: 4,
    ShardIntoError: 2,
    ShardHintDecodeError: 5,
    ShardMetadataDecodeError: 1,
    ShardEncodeError: 4,
    HintPropagationError: 4,
    PreallocShardBuilderError: 12,
    // Additions.
    HintedSplitError: 2,
    PathKeyError: 3,
    ManifestRowKeyError: 1,
    TupleEncodeError: 8,
    TupleDecodeError: 5,
  });
});

describe.each(samples)("$type, $kind", ({ error }) => {
  test("can be written as JSON, and cloned", () => {
    expect(JSON.parse(JSON.stringify(error))).toEqual(JSON.parse(JSON.stringify(toJsonSafe(error))));
    expect(structuredClone(error)).toEqual(error);
  });

  test("is a sentence that tells its numbers", () => {
    const sentence = frontierErrorMessage(error);
    expect(sentence).toMatch(/^[a-z].{15,}[^.]$/);
    expect(sentence).not.toMatch(/undefined|\[object|NaN/);
    for (const [name, value] of Object.entries(error)) {
      if (typeof value === "number" && name !== "max") expect(sentence).toContain(String(value));
      if (typeof value === "bigint") expect(sentence).toContain(String(value));
    }
  });
});

describe("prefix shard error display contains", () => {
  test.each([
    { error: { kind: "EmptyPrefix" }, words: "empty" },
    { error: { kind: "PrefixTooLarge", size: 5000, max: 4096 }, words: "5000" },
    { error: { kind: "NoSuccessor" }, words: "every byte of the prefix is ff" },
  ] as const)("$error.kind: $words", ({ error, words }) => {
    expect(frontierErrorMessage(error)).toContain(words);
  });
});

test("prefix shard error source delegates for invalid shard spec", () => {
  const refused = prefixShard({ prefix: ascii("a"), connectorExtra: filled(16_384) });
  expect(refused.ok).toBe(false);
  if (refused.ok || refused.error.kind !== "InvalidShardSpec") return expect.unreachable();
  expect(refused.error.reason).toEqual({ kind: "MetadataTooLarge", size: 16_394, max: 16_384 });
  expect(frontierErrorMessage(refused.error)).toContain(frontierErrorMessage(refused.error.reason));
});

test("an error never holds a key", () => {
  const secret = ascii("5ecret");
  const refusals = [
    rangeShard({ start: secret, end: hex("00") }),
    rangeShard({ start: filled(5000, 0x53), end: secret }),
    prefixShard({ prefix: filled(5000, 0x53) }),
  ];
  for (const refusal of refusals) {
    expect(refusal.ok).toBe(false);
    const told = refusal.ok ? "" : JSON.stringify(refusal.error) + frontierErrorMessage(refusal.error);
    expect(told).not.toContain("5ecret");
    expect(told).not.toContain("SSS");
    expect(told).not.toContain("0x53,");
  }
});

test("an error of a kind from elsewhere has a sentence too", () => {
  expect(frontierErrorMessage({ kind: "Unheard" } as never)).toBe("an error of an unknown kind");
  expect(frontierErrorMessage({ kind: "toString" } as never)).toBe("an error of an unknown kind");
  expect(() => frontierErrorMessage(undefined as never)).toThrow("error must be one of this package");
});
