// The conformance kit is the proof that the store keeps the contract. What the kit cannot know is the file: it outlives
// the store that wrote it, another store may have it open, and its bytes may be damaged.
import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardKey, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator } from "@gossip/coordination";
import { describeCoordinationStore, ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commit } from "./commit.ts";
import { runRow } from "./records.ts";
import { SqliteFile } from "./sqlite-file.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite-store.ts";

function makeFixture() {
  const folder = mkdtempSync(join(tmpdir(), "gossip-sqlite-"));
  const store = unwrap(openSqliteStore({ path: join(folder, "store.db"), durability: "Written" }));
  const dispose = async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  };
  return { store, dispose };
}

describeCoordinationStore("SqliteStore", makeFixture, { describe, expect, test });

describe("the file", () => {
  const tenant = TenantId.ZERO;
  const key = ShardKey.of(RunId.fromRaw(1n), ShardId.fromRaw(10n));
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "gossip-sqlite-"));
    path = join(folder, "store.db");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const open = () => unwrap(openSqliteStore({ path }));

  async function createRun(store: SqliteStore): Promise<Coordinator> {
    const coordinator = new Coordinator({ store, clock: new ManualClock(LogicalTime.fromRaw(1n)) });
    const shards = [
      {
        shard: key.shard,
        spec: ShardSpec.withRange({ start: Uint8Array.of(1), end: Uint8Array.of(9) }),
        cursor: Cursor.initial(),
      },
    ];
    const config = { leaseDuration: 30_000n };
    unwrap(await coordinator.createRunWithShards({ tenant, run: key.run, config, shards, opId: OpId.random() }));
    return coordinator;
  }

  test("keeps progress when the store is closed and opened again", async () => {
    const first = open();
    const coordinator = await createRun(first);
    const session = unwrap(await coordinator.claim({ tenant, run: key.run, worker: WorkerId.fromRaw(1n) }));
    unwrap(await session.checkpoint(Cursor.withLastKey(Uint8Array.of(7))));
    await first.close();

    await using second = open();
    const { shard } = unwrap(second.readShard(tenant, key));
    expect(shard?.record.cursor.lastKey).toEqual(Uint8Array.of(7));
  });

  test("cannot be opened while another store has it open", async () => {
    const store = open();
    expect(openSqliteStore({ path })).toMatchObject({
      ok: false,
      error: { kind: "Transient", operation: "sqlite.open", message: "another process has the file open" },
    });
    await store.close();
    await open().close();
  });

  test("reports a damaged record as corruption", async () => {
    const store = open();
    await createRun(store);
    await store.close();
    const file = new SqliteFile(path, { synchronous: "FULL" });
    file.run("UPDATE shards SET record = ?", Uint8Array.of(1, 2, 3));
    file.close();

    await using damaged = open();
    expect(damaged.readShard(tenant, key)).toMatchObject({ ok: false, error: { kind: "Corruption" } });
  });

  test("answers Failed if a statement throws and Unknown if COMMIT throws", async () => {
    const store = open();
    await createRun(store);
    await store.close();
    const file = new SqliteFile(path, { synchronous: "FULL" });
    const guard = runRow(file, { tenant, run: key.run })!["version"] as number;
    const remove = () => commit(file, [{ kind: "RemoveRun", tenant, run: key.run, guard }]);

    file.run("CREATE TRIGGER refuse BEFORE UPDATE ON runs BEGIN SELECT raise(ABORT, 'refused'); END");
    expect(remove()).toMatchObject([{ kind: "Failed", error: { kind: "Transient", message: "SQLite failed" } }]);
    expect(file.first("SELECT count(*) AS count FROM shards")).toEqual({ count: 1 });

    // SQLite checks a deferred foreign key in COMMIT.
    file.run("DROP TRIGGER refuse");
    file.run("CREATE TABLE child (parent TEXT REFERENCES tenants (tenant) DEFERRABLE INITIALLY DEFERRED)");
    file.run("CREATE TRIGGER orphan AFTER UPDATE ON runs BEGIN INSERT INTO child VALUES ('missing'); END");
    expect(remove()).toMatchObject([{ kind: "Unknown", error: { kind: "Transient" } }]);

    file.run("DROP TRIGGER orphan");
    expect(remove()).toEqual([{ kind: "Committed", version: guard + 2 }]);
    file.close();
  });
});
