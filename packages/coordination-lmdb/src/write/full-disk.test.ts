// A disk that is full in the middle of a write is where half-written stores come from. The write must be refused with a reason, nothing of it
// may be there, what was there before must be, and when there is room again it must go on.

import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Cursor, RunId, ShardId } from "@gossip/contracts";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { waitFor } from "@gossip/tools/fault-run";
import { afterAll, describe, expect, test, vi } from "vitest";
import { bound, fillStore, FILL_SHARDS, FILL_TENANT } from "../fill-store.fixture.ts";
import { reasonOf } from "../engine/lmdb-failure.ts";
import type { LmdbStore } from "../lmdb-store.ts";
import { openDatabase } from "../engine/open-database.ts";
import { openLmdbStore } from "../open/open-lmdb-store.ts";
import { Rows } from "../engine/rows.ts";
import { mountSmallDisk } from "../small-disk.fixture.ts";
import { makeFolder, makeStore, NO_GATE } from "../temporary-store.fixture.ts";
import { processes } from "../worker-process.fixture.ts";

const KEY = { run: RunId.fromRaw(1n), shard: ShardId.fromRaw(0n) };

afterAll(() => processes.remove());

/** A shard's checkpoint, through the port. */
async function checkpoint(store: LmdbStore, key: string, tokenSize = 0): Promise<string> {
  const { shard } = unwrap(store.readShard(FILL_TENANT, KEY));
  const { record: before, version: guard } = shard!;
  const cursor = Cursor.fromParts({
    lastKey: Buffer.concat([bound(0), Buffer.from(key)]),
    token: tokenSize === 0 ? undefined : new Uint8Array(tokenSize).fill(1),
  });
  const set = {
    kind: "UpdateShard",
    tenant: FILL_TENANT,
    run: KEY.run,
    shard: { guard, before, after: { ...before, cursor } },
    runGuard: undefined,
    hintAt: undefined,
  } as const;
  const [answer] = await store.commit([set]);
  return answer!.kind;
}

/** Without one, the size of a file is limited instead, below. */
const NO_DISK = "a small disk could not be mounted: that takes the superuser";

describe("a disk that is full", () => {
  test("refuses writes, loses nothing, and accepts writes when there is room again", async (context) => {
    const disk = await mountSmallDisk(4096);
    if (disk === undefined) return context.skip(NO_DISK);
    // The driver prints the failure too.
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    try {
      const filler = join(disk.path, "filler");
      await writeFile(filler, Buffer.alloc(2 * 1024 * 1024));
      const store = unwrap(await openLmdbStore({ path: join(disk.path, "store") }));
      const first = await fillStore(store, { runs: 100, from: 1 });
      expect(first.refusal).toMatchObject({
        kind: "Failed",
        error: { kind: "Transient", code: "ENOSPC", message: "the disk is full" },
      });
      expect(first.made).toBeGreaterThan(3);
      for (let attempt = 0; attempt < 5; attempt++)
        expect((await fillStore(store, { runs: 1, from: first.made + 1 })).made).toBe(0);
      const report = unwrap(await fsck(store.inspect()));
      expect(report).toMatchObject({ runCount: first.made, shardCount: first.made * FILL_SHARDS, findings: [] });

      await rm(filler);
      const second = await fillStore(store, { runs: 5, from: first.made + 1 });
      expect(second).toEqual({ made: 5, refusal: undefined });
      expect(await checkpoint(store, "k")).toBe("Committed");
      await store.close();
      const again = unwrap(await openLmdbStore({ path: join(disk.path, "store") }));
      expect(unwrap(await fsck(again.inspect()))).toMatchObject({ runCount: first.made + 5, findings: [] });
      await again.close();
    } finally {
      printed.mockRestore();
      await disk.dispose();
    }
  });

  test("makes a commit fail without a number, so that the engine is checked before the next one", async (context) => {
    const disk = await mountSmallDisk(512);
    if (disk === undefined) return context.skip(NO_DISK);
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    try {
      const db = openDatabase(join(disk.path, "store"), "Flushed");
      const rows = new Rows(db, NO_GATE);
      const fill = (byte: number, size: number) =>
        rows.together(() => rows.put(Buffer.of(byte), Buffer.alloc(size, byte)));
      await fill(1, 10);
      const { commitNumber } = rows.writes.last;
      expect(commitNumber).toBeGreaterThan(0);
      expect(await fill(2, 1024 * 1024).catch(reasonOf)).toMatchObject({ code: expect.any(Number) });
      expect(rows.writes.last.commitNumber).toBeUndefined();
      await fill(3, 10);
      expect(rows.writes.last.commitNumber).toBe(commitNumber! + 1);
      await db.close();
    } finally {
      printed.mockRestore();
      await disk.dispose();
    }
  });

  test("has no room for a store at all", async (context) => {
    const disk = await mountSmallDisk(16);
    if (disk === undefined) return context.skip(NO_DISK);
    try {
      await writeFile(join(disk.path, "filler"), Buffer.alloc(12 * 1024)).catch(() => undefined);
      expect(await openLmdbStore({ path: join(disk.path, "store") })).toEqual({
        ok: false,
        error: { kind: "DiskFull" },
      });
    } finally {
      await disk.dispose();
    }
  });

  test("has the same effect as a file that may not grow, for a process without any rights", async () => {
    const folder = await makeFolder();
    const child = await processes.start(
      "./probe-store.fixture.ts",
      { path: folder.path, runs: 100 },
      { maxFileBlocks: 2048 },
    );
    const ended = await waitFor(child);
    expect(ended).toMatchObject({ code: 0 });
    const { made, refusal, failure, findings, runCount } = JSON.parse(ended.output) as Record<string, unknown>;
    expect({ refusal, findings, runCount }).toEqual({ refusal: "Failed", findings: [], runCount: made });
    expect(["EIO", "EFBIG"]).toContain((failure as { code: string }).code);
    expect(made).toBeGreaterThan(3);
    // Another process, without the limit, finds everything and goes on.
    const store = unwrap(await openLmdbStore({ path: folder.path, durability: "Written" }));
    expect(await fillStore(store, { runs: 3, from: (made as number) + 1 })).toMatchObject({ made: 3 });
    expect(unwrap(await fsck(store.inspect()))).toMatchObject({ runCount: (made as number) + 3, findings: [] });
    await store.close();
    await folder.dispose();
  });
});

describe("a size limit", () => {
  test("refuses writes that make the store larger, and accepts others", async () => {
    const { store, dispose } = await makeStore({ maxSize: 1024 * 1024 });
    const { made, refusal } = await fillStore(store, { runs: 100, from: 1 });
    expect(refusal).toMatchObject({
      kind: "Failed",
      error: { kind: "Transient", code: "MDB_MAP_FULL", message: "the store has reached its size limit" },
    });
    expect(made).toBeGreaterThan(3);
    expect(made).toBeLessThan(13);
    // Room for one more shard's worth, as often as it is asked for.
    expect(await checkpoint(store, "k")).toBe("Committed");
    for (let round = 0; round < 50; round++) expect(await checkpoint(store, `k${round % 10}`)).toBe("Committed");
    expect(unwrap(await fsck(store.inspect()))).toMatchObject({ runCount: made, findings: [] });
    await dispose();
  });
});
