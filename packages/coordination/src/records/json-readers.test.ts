// A reader of JSON stands between a file that may have been edited and the engine. It must return an error for whatever it
// is given, and what it accepts must have every field of its type.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { leaseOf, makeHeldShard, makeRun, op, time } from "../kernel/world.fixture.ts";
import { RunProgress } from "../views/run-progress.ts";
import { summarizeRun } from "../views/run-summary.ts";
import { snapshotOf } from "../views/shard-snapshot.ts";
import { summarizeShard } from "../views/shard-summary.ts";
import {
  capacityHintJson,
  runProgressJson,
  runSummaryJson,
  shardSnapshotJson,
  shardSummaryJson,
} from "../views/view-json.ts";
import { CapacityHint } from "./capacity-hint.ts";
import { coordinationEventJson } from "./event-json.ts";
import { EVENT_OF_KIND } from "./events.fixture.ts";
import { leaseJson, runRecordJson, shardRecordJson } from "./record-json.ts";

interface Case {
  readonly name: string;
  readonly json: unknown;
  readonly value: object;
  readonly fromJson: (json: unknown) => { readonly ok: boolean; readonly value?: unknown };
}

function caseOf<T extends object>(
  name: string,
  codec: { toJson(value: T): unknown; fromJson(json: unknown): { readonly ok: boolean; readonly value?: unknown } },
  value: T,
): Case {
  const json: unknown = JSON.parse(JSON.stringify(codec.toJson(value)));
  return { name, json, value, fromJson: (given) => codec.fromJson(given) };
}

const shard = makeHeldShard();
const ended = makeRun({
  status: "Failed",
  completedAt: time(9),
  lastTime: time(9),
  opLog: [{ opId: op(1), kind: "FailRun", payloadHash: 7n as never, executedAt: time(9), result: { kind: "Ack" } }],
});
const cases: readonly Case[] = [
  caseOf("shard record", shardRecordJson, shard),
  caseOf("run record", runRecordJson, makeRun()),
  caseOf("run record that has ended", runRecordJson, ended),
  caseOf("lease", leaseJson, leaseOf(shard)),
  caseOf("run summary", runSummaryJson, summarizeRun(makeRun())),
  caseOf("shard summary", shardSummaryJson, summarizeShard(shard, time(50))),
  caseOf("shard snapshot", shardSnapshotJson, snapshotOf(shard)),
  caseOf("run progress", runProgressJson, RunProgress.of([], time(50))),
  caseOf("capacity hint", capacityHintJson, CapacityHint.ZERO),
  ...Object.values(EVENT_OF_KIND).map((event) => caseOf(event.kind, coordinationEventJson, event)),
];

/** Values at the edges of what a field may hold. */
const edge = fc.constantFrom<unknown>(
  null, true, -1, -0, 0.5, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 1e300, "", "0", "0".repeat(16), "f".repeat(16), "F".repeat(16),
  "f".repeat(64), "__proto__", "Active", [], [null], [[]], {}, { kind: "Ack" }, { lastKey: "" }, { lastKey: null, token: "" },
); // prettier-ignore

/** Every path into some JSON. */
function pathsOf(json: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof json !== "object" || json === null) return [path];
  return [path, ...Object.entries(json).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

function replaceAt(json: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const copy = (Array.isArray(json) ? [...(json as unknown[])] : { ...(json as object) }) as Record<string, unknown>;
  copy[name] = replaceAt(copy[name], rest, value);
  return copy;
}

describe.each(cases)("$name", ({ json, value, fromJson }) => {
  const paths = pathsOf(json);

  test("is read with every field of its type, present or not", () => {
    const read = fromJson(json);
    expect(read.ok).toBe(true);
    const expected = Object.keys(value).filter((field) => field !== "lastKey" || !("lastKeySize" in value));
    expect(Object.keys(read.value as object).toSorted()).toEqual(expected.toSorted());
  });

  test("never throws, whatever stands in place of a field", () => {
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.oneof(edge, fc.jsonValue()), (path, junk) => {
        expect(typeof fromJson(replaceAt(json, path, junk)).ok).toBe("boolean");
      }),
      { numRuns: 500 },
    );
  });
});
