// Checkpoints are written without `JSON.stringify`. If a field were forgotten, or a key not escaped, a server would refuse
// the request, or execute another one.
import fc from "fast-check";
import { expect, test } from "vitest";
import { CapacityWire, CursorWire, LeaseWire } from "../schema/records.ts";
import { CheckpointElement, CheckpointOk } from "../schema/requests.ts";
import type { ElementOf, ElementResult } from "../table/wire-types.ts";
import { elementsText, resultsText } from "./batch-text.ts";
import { writeId } from "./write-records.ts";

const id = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(writeId);
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
const tenant = fc.stringMatching(/^[0-9a-f]{64}$/);
/** Quotes, escapes, control characters, lone surrogates. */
const text = fc.string({ unit: "binary", maxLength: 12 });
const bytes = fc.stringMatching(/^[A-Za-z0-9_-]{0,8}$/);
/** A field that is left out is not there; one that is `undefined` is not written. */
const optional = { requiredKeys: [] as [] };

const element: fc.Arbitrary<ElementOf<"checkpoint">> = fc.record(
  {
    lease: fc.record({ tenant, run: id, shard: id, worker: id, fence: u64, deadline: u64 }),
    opId: id,
    cursor: fc.record({ key: text, key64: bytes, token: text, token64: bytes }, optional),
    renew: fc.boolean(),
    failures: fc.array(
      fc.record({
        key: text,
        attempts: fc.constant(1),
        reason: fc.constant("Failed" as never),
        error: fc.constant('a "reason"'),
      }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: ["lease", "opId", "cursor"] },
);

const done = fc.record(
  {
    outcome: fc.constantFrom("Executed" as const, "Replayed" as const),
    capacity: fc.record(
      { available: fc.nat(), earliestDeadline: u64, isStarved: fc.boolean() },
      { requiredKeys: ["available", "isStarved"] },
    ),
    deadline: u64,
    signals: fc.array(fc.constantFrom("split-wanted" as const, "drain" as const), { maxLength: 2 }),
  },
  { requiredKeys: ["outcome", "capacity"] },
);
const failure = fc.record({
  error: fc.record({ kind: text, message: text, advice: fc.constant("Stop") }),
  status: fc.constant(409),
});
const result: fc.Arbitrary<ElementResult<"checkpoint">> = fc.oneof(
  done.map((ok) => ({ ok })),
  failure,
);

test("the text of checkpoints holds what JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.array(element, { maxLength: 3 }), (elements) => {
      expect(JSON.parse(elementsText("checkpoint", elements))).toEqual(JSON.parse(JSON.stringify(elements)));
    }),
  );
});

test("the text of their results holds what JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.array(result, { maxLength: 3 }), (results) => {
      expect(JSON.parse(resultsText("checkpoint", results))).toEqual(JSON.parse(JSON.stringify(results)));
    }),
  );
});

test("a field that a schema gains must be written, too", () => {
  const fields = [CheckpointElement, LeaseWire, CursorWire, CheckpointOk, CapacityWire].map(({ properties }) =>
    Object.keys(properties),
  );
  expect(fields).toEqual([
    ["lease", "opId", "cursor", "renew", "failures"],
    ["tenant", "run", "shard", "worker", "fence", "deadline"],
    ["key", "key64", "token", "token64"],
    ["outcome", "deadline", "capacity", "signals"],
    ["available", "earliestDeadline", "isStarved"],
  ]);
});

test("other operations are written by JSON.stringify", () => {
  const elements = [{ run: "0000000000000001", worker: "0000000000000002", opId: "0000000000000003" }];
  expect(elementsText("claim", elements)).toBe(JSON.stringify(elements));
  expect(resultsText("claim", [{ ok: { sessions: [] } }])).toBe('[{"ok":{"sessions":[]}}]');
});
