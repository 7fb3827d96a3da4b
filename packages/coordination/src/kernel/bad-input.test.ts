// The kernel can be called directly, without a coordinator, to try the rules. A malformed command must be answered with
// a clear message there, too. Records are not checked: a store or a reader has made them.

import { InvariantViolation } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import {
  at,
  initial,
  KEY,
  leaseOf,
  makeHeldShard,
  makeRun,
  makeShard,
  op,
  replacePlan,
  residualPlan,
  RUN,
  TENANT,
  time,
  worker,
} from "./world.fixture.ts";
import { kernel } from "./kernel.ts";

const JUNK: readonly unknown[] = [undefined, null, 5, -1n, "text", {}, [], Symbol("junk"), () => 5];
const NOW = time(50);

const held = makeHeldShard();
const lease = leaseOf(held);
const leased = { tenant: TENANT, lease, opId: op(9) };
const ofRun = { tenant: TENANT, run: RUN, opId: op(9) };
const config = { leaseDuration: 100n };
const shards = [initial(1, "a", "b")];
const loaded = { run: makeRun(), shard: held };
const missing = { kind: "Missing" } as const;

type Transition = (loaded: unknown, command: unknown, now: unknown) => unknown;

/** What each transition was given, and a command that it takes. */
const CALLS: Readonly<
  Record<Exclude<keyof typeof kernel, "findSpawnedResidual">, readonly [loaded: unknown, command: object]>
> = {
  acquire: [
    { run: makeRun(), shard: makeShard() },
    { tenant: TENANT, key: KEY, worker: worker(1), opId: op(9) },
  ],
  renew: [loaded, { tenant: TENANT, lease }],
  checkpoint: [loaded, { ...leased, cursor: at("c"), renew: false }],
  complete: [loaded, { ...leased, point: at("c") }],
  park: [loaded, { ...leased, reason: "Other" }],
  release: [loaded, leased],
  splitReplace: [
    loaded,
    { ...leased, plan: replacePlan({ start: "a", end: "m" }, { start: "m", end: "z" }), maxChildren: 256 },
  ],
  splitResidual: [
    { ...loaded, residual: undefined },
    { ...leased, plan: residualPlan("a", "m", "z") },
  ],
  unpark: [
    { run: makeRun(), shard: makeShard({ status: "Parked", parkReason: "Other" }) },
    { tenant: TENANT, key: KEY, opId: op(9) },
  ],
  createRun: [missing, { tenant: TENANT, run: RUN, config }],
  registerShards: [{ run: makeRun({ status: "Initializing", rootShards: [] }) }, { ...ofRun, shards, more: true }],
  createRunWithShards: [{ loaded: missing }, { ...ofRun, config, shards }],
  completeRun: [
    { run: makeRun(), counts: { active: 0, parked: 0 } },
    { ...ofRun, options: {} },
  ],
  failRun: [{ run: makeRun() }, ofRun],
  cancelRun: [{ run: makeRun() }, ofRun],
  deleteRun: [makeRun({ status: "Done", completedAt: time(5), lastTime: time(5) }), { tenant: TENANT, run: RUN }],
};

function expectSentence(call: () => unknown, what: string): void {
  try {
    call();
  } catch (error) {
    expect(error, `${what} gave ${String(error)}`).toBeInstanceOf(InvariantViolation);
    expect((error as Error).message.length).toBeGreaterThan(10);
  }
}

describe.each(Object.entries(CALLS))("%s", (name, [given, command]) => {
  const transition = kernel[name as keyof typeof CALLS] as Transition;

  test("takes what it is made for", () => {
    expect(transition(given, command, NOW)).toMatchObject({ ok: true });
  });

  test("answers junk in place of a command with a sentence", () => {
    for (const junk of JUNK) expectSentence(() => transition(given, junk, NOW), String(junk));
    for (const junk of [undefined, null, 5, "text"])
      expect(() => transition(given, junk, NOW), String(junk)).toThrow(InvariantViolation);
  });

  test("answers junk in place of what was read, or of the time, with a sentence", () => {
    for (const junk of [null, 5, "text"])
      expect(() => transition(junk, command, NOW), String(junk)).toThrow(InvariantViolation);
    for (const junk of JUNK) expect(() => transition(given, command, junk), String(junk)).toThrow(InvariantViolation);
  });

  test.each(Object.keys(command))("answers junk as its %s, or with a sentence", (field) => {
    for (const junk of JUNK)
      expectSentence(() => transition(given, { ...command, [field]: junk }, NOW), `${field}: ${String(junk)}`);
  });
});
