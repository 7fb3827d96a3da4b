// A record under another tenant's keys is a leak, and no type prevents it.
import { LogicalTime, RunId, ShardId, TenantId, U64_MAX } from "@gossip/contracts";
import type { WriteSet } from "@gossip/coordination";
import { InvariantViolation } from "@gossip/stdx";
import { expect, test } from "vitest";
import { assertClaimQuery, assertPageQuery, assertWriteSet } from "./assertions.ts";

const own = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };

const OTHERS = [
  { ...own, run: RunId.fromRaw(2n) },
  { ...own, tenant: TenantId.fromBytes(new Uint8Array(32).fill(1)) },
];

/** Every kind of set that holds a record, with that record. */
const SETS_OF: readonly ((record: object) => object)[] = [
  (after) => ({ kind: "UpdateShard", shard: { after } }),
  (after) => ({ kind: "SplitShard", shard: { after }, created: [] }),
  (created) => ({ kind: "SplitShard", shard: { after: own }, created: [own, created] }),
  (after) => ({ kind: "PutRun", after, created: [] }),
  (created) => ({ kind: "PutRun", after: own, created: [own, created] }),
];

const set = (fields: object) => () => assertWriteSet({ ...own, ...fields } as WriteSet);

test("a record of another run or tenant is refused, wherever it is in a set", () => {
  for (const withRecord of SETS_OF) {
    expect(set(withRecord({ ...own }))).not.toThrow();
    for (const other of OTHERS) expect(set(withRecord(other))).toThrow(InvariantViolation);
  }
});

test("malformed notes and times of hints are refused", () => {
  const shard = { after: { ...own, shard: ShardId.fromRaw(1n) } };
  const note = { space: "rollup", key: Uint8Array.of(1), value: Uint8Array.of(2) };
  for (const kind of [{ kind: "WriteNotes" }, { kind: "UpdateShard", shard }]) {
    expect(set({ ...kind, notes: [note] })).not.toThrow();
    for (const notes of [[{ ...note, space: "none" }], [{ ...note, value: new Uint8Array() }], [undefined], "notes"])
      expect(set({ ...kind, notes })).toThrow(InvariantViolation);
  }
  expect(set({ kind: "WriteNotes" })).toThrow(InvariantViolation);
  expect(set({ kind: "UpdateShard", shard, hintAt: LogicalTime.fromRaw(1n) })).not.toThrow();
  for (const hintAt of [0n, U64_MAX]) expect(set({ kind: "UpdateShard", shard, hintAt })).toThrow(InvariantViolation);
});

test("a set that removes a run holds nothing to check", () => {
  expect(set({ kind: "RemoveRun" })).not.toThrow();
});

test("limits and spreads outside their range are refused", () => {
  expect(() => assertClaimQuery({ limit: 1, spread: 2 ** 32 - 1 })).not.toThrow();
  expect(() => assertPageQuery({ limit: 1 })).not.toThrow();
  for (const query of [
    { limit: 0, spread: 0 },
    { limit: 1.5, spread: 0 },
    { limit: 1, spread: -1 },
    { limit: 1, spread: 2 ** 32 },
  ])
    expect(() => assertClaimQuery(query)).toThrow(InvariantViolation);
  expect(() => assertPageQuery({ limit: 0 })).toThrow(InvariantViolation);
});
