// A step that is taken twice, or out of turn, must neither lose a move nor start a second one. This is
// the table of scope.md section 3 cell by cell, with W4 where it differs: a move has an id, a repeated
// step replays, and a committed prefix can move again.
import { describe, expect, test } from "vitest";
import { unwrap } from "@gossip/stdx";
import { bytes } from "../arbitrary.fixture.ts";
import { MAX_REMEMBERED_MIGRATIONS } from "../limits.ts";
import type { MigrationState } from "./migration.ts";
import { MigrationTable } from "./migration-table.ts";

function move(fields: Partial<MigrationState> = {}): MigrationState {
  return {
    id: "m1",
    prefix: bytes("p:"),
    from: "a",
    to: "b",
    address: undefined,
    deadlineMs: 100,
    number: 1,
    epoch: 1,
    inner: "",
    ...fields,
  };
}

const IDLE = MigrationTable.EMPTY;
const MIGRATING = unwrap(IDLE.start(move())).migrations;
const MIGRATED = unwrap(MIGRATING.commit("m1"))!.migrations;
const ABORTED = unwrap(MIGRATING.abort("m1"))!.migrations;

function stateOf(table: MigrationTable): string {
  if (table.lookupMigrating("p:") !== undefined) return "MIGRATING";
  return table.lookupMigrated("p:") === undefined ? "IDLE" : "MIGRATED";
}

describe("start", () => {
  test.each<[string, MigrationTable, MigrationState, object]>([
    ["idle", IDLE, move(), { ok: true, value: { outcome: "Executed" } }],
    ["migrating, the same move again", MIGRATING, move(), { ok: true, value: { outcome: "Replayed" } }],
    [
      "migrating, another id",
      MIGRATING,
      move({ id: "m2" }),
      { ok: false, error: { kind: "AlreadyMigrating", id: "m1" } },
    ],
    [
      "migrating, the id with another target",
      MIGRATING,
      move({ to: "c" }),
      { ok: false, error: { kind: "MigrationIdConflict", id: "m1" } },
    ],
    [
      "migrating, the id with another source",
      MIGRATING,
      move({ from: "c" }),
      { ok: false, error: { kind: "MigrationIdConflict", id: "m1" } },
    ],
    [
      "migrating, the id with another deadline",
      MIGRATING,
      move({ deadlineMs: 101 }),
      { ok: false, error: { kind: "MigrationIdConflict", id: "m1" } },
    ],
    [
      "migrating, the id with another address",
      MIGRATING,
      move({ address: "h:1" }),
      { ok: false, error: { kind: "MigrationIdConflict", id: "m1" } },
    ],
    [
      "migrating, the id with another prefix",
      MIGRATING,
      move({ prefix: bytes("q:") }),
      { ok: false, error: { kind: "MigrationIdConflict", id: "m1" } },
    ],
    ["migrated, the same move again", MIGRATED, move(), { ok: false, error: { kind: "AlreadyCommitted", id: "m1" } }],
    [
      "migrated, the next move",
      MIGRATED,
      move({ id: "m2", from: "b", to: "a", number: 2, epoch: 3 }),
      { ok: true, value: { outcome: "Executed" } },
    ],
    ["aborted, the same move again", ABORTED, move(), { ok: false, error: { kind: "Aborted", id: "m1" } }],
    [
      "aborted, the next move",
      ABORTED,
      move({ id: "m2", number: 2, epoch: 3 }),
      { ok: true, value: { outcome: "Executed" } },
    ],
  ])("%s", (_, table, request, expected) => {
    expect(table.start(request)).toMatchObject(expected);
  });
});

describe("commit and abort", () => {
  test.each<[string, "commit" | "abort", MigrationTable, object]>([
    ["idle", "commit", IDLE, { ok: true, value: undefined }],
    ["migrating", "commit", MIGRATING, { ok: true, value: { outcome: "Executed", state: move() } }],
    ["migrated", "commit", MIGRATED, { ok: true, value: { outcome: "Replayed" } }],
    ["aborted", "commit", ABORTED, { ok: false, error: { kind: "Aborted", id: "m1" } }],
    ["idle", "abort", IDLE, { ok: true, value: undefined }],
    ["migrating", "abort", MIGRATING, { ok: true, value: { outcome: "Executed", state: move() } }],
    ["migrated", "abort", MIGRATED, { ok: false, error: { kind: "AlreadyCommitted", id: "m1" } }],
    ["aborted", "abort", ABORTED, { ok: true, value: { outcome: "Replayed" } }],
  ])("%s: %s", (_, step, table, expected) => {
    expect(table[step]("m1")).toMatchObject(expected);
  });

  test("lead from migrating to migrated, and from migrating to idle", () => {
    expect([IDLE, MIGRATING, MIGRATED, ABORTED].map(stateOf)).toEqual(["IDLE", "MIGRATING", "MIGRATED", "IDLE"]);
  });

  test("a prefix is never in both states: a move on takes it from migrated to migrating only when it is looked up", () => {
    const onward = unwrap(MIGRATED.start(move({ id: "m2", from: "b", to: "c", number: 2, epoch: 3 }))).migrations;
    expect(onward.lookupMigrating("p:")).toMatchObject({ id: "m2" });
    expect(unwrap(onward.commit("m2"))!.migrations.lookupMigrated("p:")).toMatchObject({
      id: "m2",
      to: "c",
      endEpoch: 4,
    });
  });

  test("leave the table as it was: a step makes another one", () => {
    expect([stateOf(IDLE), stateOf(MIGRATING)]).toEqual(["IDLE", "MIGRATING"]);
  });
});

describe("lookup and match", () => {
  const nested = unwrap(MIGRATING.start(move({ id: "m2", prefix: bytes("p:q:") }))).migrations;
  const bothOver = unwrap(unwrap(nested.commit("m1"))!.migrations.commit("m2"))!.migrations;

  test("look up one prefix exactly", () => {
    expect([
      nested.lookupMigrating("p:")?.id,
      nested.lookupMigrating("p:q:")?.id,
      nested.lookupMigrating("p:q")?.id,
    ]).toEqual(["m1", "m2", undefined]);
    expect([
      bothOver.lookupMigrated("p:")?.id,
      bothOver.lookupMigrated("p:q:")?.id,
      bothOver.lookupMigrated("p")?.id,
    ]).toEqual(["m1", "m2", undefined]);
  });

  test("match the longest prefix of a key", () => {
    expect([
      nested.matchMigrating("p:1")?.id,
      nested.matchMigrating("p:q:1")?.id,
      nested.matchMigrating("q")?.id,
    ]).toEqual(["m1", "m2", undefined]);
    expect([
      bothOver.matchMigrated("p:1")?.id,
      bothOver.matchMigrated("p:q:1")?.id,
      bothOver.matchMigrated("q")?.id,
    ]).toEqual(["m1", "m2", undefined]);
    expect([nested.matchMigrated("p:1"), bothOver.matchMigrating("p:1")]).toEqual([undefined, undefined]);
  });

  test("know nothing when idle", () => {
    expect([
      IDLE.lookupMigrating("p:"),
      IDLE.lookupMigrated("p:"),
      IDLE.matchMigrating("p:"),
      IDLE.matchMigrated("p:"),
    ]).toEqual([undefined, undefined, undefined, undefined]);
  });

  test("give copies: writing into them changes nothing here", () => {
    MIGRATING.live()[0]!.prefix.fill(0);
    MIGRATING.get("m1")!.prefix.fill(0);
    MIGRATED.lookupMigrated("p:")!.prefix.fill(0);
    expect([stateOf(MIGRATING), stateOf(MIGRATED), MIGRATING.matchMigrating("p:1")?.id]).toEqual([
      "MIGRATING",
      "MIGRATED",
      "m1",
    ]);
  });
});

test("finished moves are forgotten oldest first, beyond the limit", () => {
  let table = MigrationTable.EMPTY;
  for (let number = 1; number <= MAX_REMEMBERED_MIGRATIONS + 2; number++) {
    const id = `m${number}`;
    table = unwrap(unwrap(table.start(move({ id, number, epoch: 2 * number }))).migrations.abort(id))!.migrations;
  }
  expect([table.get("m1"), table.get("m2"), table.get("m3")?.id, table.finished().length]).toEqual([
    undefined,
    undefined,
    "m3",
    MAX_REMEMBERED_MIGRATIONS,
  ]);
});
