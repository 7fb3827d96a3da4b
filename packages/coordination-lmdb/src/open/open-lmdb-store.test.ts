// What an operator meets first is a folder that cannot be used: another user's, of a later version, or on a full disk. Each
// must be distinguished from the others, and nothing may be written into what is not ours.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { symlinkSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RunId } from "@gossip/contracts";
import { fsck } from "@gossip/coordination-fsck";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { open } from "lmdb";
import { waitFor, type ProcessLimits } from "@gossip/tools/fault-run";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifyLmdbFolder } from "../inspect/verify-folder.ts";
import { FORMAT } from "./format.ts";
import { fillStore, FILL_TENANT } from "../fill-store.fixture.ts";
import { RowKind, storeKey } from "../layout/keyspace.ts";
import type { LmdbStore } from "../lmdb-store.ts";
import { openDatabase, PAGE_SIZE } from "../engine/open-database.ts";
import { openLmdbStore, type LmdbStoreOptions } from "./open-lmdb-store.ts";
import { Rows } from "../engine/rows.ts";
import { makeFolder, makeStore, NO_GATE } from "../temporary-store.fixture.ts";
import { processes } from "../worker-process.fixture.ts";

const NOBODY = 65_534;

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(() => folder.dispose());
afterAll(() => processes.remove());

async function digest(): Promise<string> {
  return createHash("sha256")
    .update(await readFile(join(folder.path, "data.mdb")))
    .digest("hex");
}

async function probe(
  config: { readonly path?: string; readonly runs?: number } = {},
  limits: ProcessLimits = {},
): Promise<Record<string, unknown>> {
  const ended = await waitFor(
    await processes.start("./probe-store.fixture.ts", { path: folder.path, runs: 1, ...config }, limits),
  );
  expect(ended).toMatchObject({ code: 0 });
  return JSON.parse(ended.output) as Record<string, unknown>;
}

describe("openLmdbStore", () => {
  test("creates the folder and its parents, and finds what was stored there", async () => {
    const path = join(folder.path, "a", "b.mdb");
    const first = unwrap(await openLmdbStore({ path }));
    await fillStore(first, { runs: 2, from: 1 });
    const before = unwrap(first.readRun(FILL_TENANT, RunId.fromRaw(2n)));
    await first.close();

    const second = unwrap(await openLmdbStore({ path }));
    expect(unwrap(second.readRun(FILL_TENANT, RunId.fromRaw(2n)))).toEqual(before);
    expect(unwrap(await fsck(second.inspect()))).toMatchObject({ runCount: 2, findings: [] });
    await second.close();
  });

  test("refuses a store of a later version, and does not change it", async () => {
    const db = openDatabase(folder.path, "Flushed");
    const rows = new Rows(db, NO_GATE);
    await rows.transact(() => rows.put(storeKey(RowKind.Format), Buffer.of(0, 0, 0, FORMAT + 1)));
    await db.close();
    const before = await digest();
    expect(await openLmdbStore({ path: folder.path })).toEqual({
      ok: false,
      error: { kind: "NewerFormat", found: FORMAT + 1, supported: FORMAT },
    });
    expect(await digest()).toBe(before);
  });

  test.each([true, false])(
    "refuses rows that are not a store's, and leaves them as they were (with versions: %s)",
    async (useVersions) => {
      const foreign = open({ path: folder.path, useVersions });
      await foreign.put("greeting", { some: "text" }, 1);
      await foreign.close();
      const before = await digest();
      expect(await openLmdbStore({ path: folder.path })).toEqual({ ok: false, error: { kind: "NotAStore" } });
      expect(await digest()).toBe(before);
    },
  );

  test("a file with smaller pages, as earlier versions made them, keeps them and is used as any other", async () => {
    const pageSize = PAGE_SIZE / 2;
    await open({ path: folder.path, noSubdir: false, pageSize }).close();
    for (const from of [1, 3]) {
      const store = unwrap(await openLmdbStore({ path: folder.path }));
      await fillStore(store, { runs: 2, from });
      await store.close();
    }
    const again = unwrap(await openLmdbStore({ path: folder.path }));
    expect(unwrap(await fsck(again.inspect()))).toMatchObject({ runCount: 4, findings: [] });
    await again.close();
    const db = openDatabase(folder.path, "Written");
    expect(db.getStats()).toMatchObject({ pageSize });
    await db.close();
  });

  test("refuses a file of another kind, and does not change it", async () => {
    await writeFile(join(folder.path, "data.mdb"), Buffer.alloc(8192, 7));
    const before = await digest();
    expect(await openLmdbStore({ path: folder.path })).toEqual({ ok: false, error: { kind: "NotAStore" } });
    expect(await digest()).toBe(before);
  });

  test("refuses a truncated file, which would end the process", async () => {
    const store = unwrap(await openLmdbStore({ path: folder.path }));
    await fillStore(store, { runs: 3, from: 1 });
    await store.close();
    const whole = await readFile(join(folder.path, "data.mdb"));
    for (const size of [
      1,
      100,
      PAGE_SIZE,
      PAGE_SIZE + 1,
      2 * PAGE_SIZE,
      Math.floor(whole.length / (4 * PAGE_SIZE)) * PAGE_SIZE,
      Math.floor(whole.length / (2 * PAGE_SIZE)) * PAGE_SIZE,
    ]) {
      await writeFile(join(folder.path, "data.mdb"), whole.subarray(0, size));
      const opened = await openLmdbStore({ path: folder.path });
      expect(opened).toMatchObject({
        ok: false,
        error: size <= 100 ? { kind: "NotAStore" } : { kind: "Truncated", size },
      });
    }
    await writeFile(join(folder.path, "data.mdb"), whole);
    const again = unwrap(await openLmdbStore({ path: folder.path }));
    expect(unwrap(await fsck(again.inspect()))).toMatchObject({ runCount: 3, findings: [] });
    await again.close();
  });

  test("returns the code of the system for other failures", async () => {
    const path = join(folder.path, "file");
    await writeFile(path, "");
    expect(await openLmdbStore({ path })).toMatchObject({ ok: false, error: { kind: "Unavailable", code: "EEXIST" } });
    expect(await openLmdbStore({ path: join(path, "below") })).toMatchObject({
      ok: false,
      error: { kind: "Unavailable", code: "ENOTDIR" },
    });
    await mkdir(join(folder.path, "odd", "data.mdb"), { recursive: true });
    expect(await openLmdbStore({ path: join(folder.path, "odd") })).toMatchObject({
      ok: false,
      error: { kind: "Unavailable", code: "EISDIR" },
    });
  });

  test.each([
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
    ["a device", (path: string) => symlinkSync("/dev/null", path)],
  ])("refuses %s in the place of a file, which would end the process", async (_what, make) => {
    for (const name of ["data.mdb", "lock.mdb"]) {
      const path = join(folder.path, name);
      make(path);
      expect(await probe()).toEqual({ opened: "NotAStore" });
      expect(await verifyLmdbFolder({ path: folder.path })).toMatchObject({ ok: false, error: { kind: "NotAStore" } });
      await rm(path);
    }
  });

  test("refuses a pipe beside the file of a store, and opens the store without it", async () => {
    const store = unwrap(await openLmdbStore({ path: folder.path }));
    await fillStore(store, { runs: 1, from: 1 });
    await store.close();
    const path = join(folder.path, "lock.mdb");
    await rm(path);
    execFileSync("mkfifo", [path]);
    expect(await probe()).toEqual({ opened: "NotAStore" });
    await rm(path);
    expect(await probe({ runs: 0 })).toMatchObject({ opened: "ok", runCount: 1, findings: [] });
  });

  test("reports a folder that is not writable", async () => {
    const path = join(folder.path, "closed");
    await mkdir(path);
    await chmod(path, 0o555);
    await chmod(folder.path, 0o755);
    // The superuser may write anywhere, so another user must try.
    const isSuperuser = process.getuid?.() === 0;
    expect(await probe({ path }, isSuperuser ? { user: NOBODY } : {})).toEqual({ opened: "ReadOnlyFolder" });
    await chmod(path, 0o755);
  });

  test("lets processes open an empty folder at the same time", async () => {
    const opened = await Promise.all([1, 2, 3, 4].map(() => probe({ runs: 0 })));
    expect(opened).toEqual(Array.from({ length: 4 }, () => expect.objectContaining({ opened: "ok", findings: [] })));
  });

  test("lets one thread open an empty folder several times at once", async () => {
    // In a process of its own: opens that wait for each other would block the thread, and with it every timeout.
    const config = { path: folder.path, folders: 30, opens: 4 };
    const { output } = await waitFor(await processes.start("./open-at-once.fixture.ts", config));
    expect(output).toBe('{"opened":120}');
  });

  test("allows one durability per folder and process, until the last store is closed", async () => {
    const first = unwrap(await openLmdbStore({ path: folder.path, durability: "Written" }));
    const second = unwrap(await openLmdbStore({ path: folder.path, durability: "Written" }));
    expect(await openLmdbStore({ path: folder.path })).toEqual({
      ok: false,
      error: { kind: "OtherDurability", openWith: "Written" },
    });
    await first.close();
    expect(await openLmdbStore({ path: folder.path })).toMatchObject({ ok: false });
    expect(await fillStore(second, { runs: 1, from: 1 })).toMatchObject({ made: 1 });
    await second.close();
    const third = unwrap(await openLmdbStore({ path: folder.path }));
    expect(unwrap(third.readRun(FILL_TENANT, RunId.fromRaw(1n))).kind).toBe("Found");
    await third.close();
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a path alone", "here"],
    ["no path", {}],
    ["an empty path", { path: "" }],
    ["a path with a zero byte", { path: "a\0b" }],
    ["a durability that there is not", { path: "x", durability: "Maybe" }],
    ["a name that every object has, as durability", { path: "x", durability: "constructor" }],
    ["a size of nothing", { path: "x", maxSize: 0 }],
    ["a size that is no number", { path: "x", maxSize: "1 GB" }],
  ])("throws if it is given %s", async (_what, options) => {
    await expect(openLmdbStore(options as LmdbStoreOptions)).rejects.toThrow(InvariantViolation);
  });
});

describe("a store that is closed", () => {
  const moment = { tenant: FILL_TENANT, run: RunId.fromRaw(1n), now: 1n as never };
  const calls: readonly [string, (store: LmdbStore) => unknown][] = [
    ["readRun", (store) => store.readRun(FILL_TENANT, moment.run)],
    ["readShard", (store) => store.readShard(FILL_TENANT, { run: moment.run, shard: 1n as never })],
    ["readHint", (store) => store.readHint(moment)],
    ["readProgress", (store) => store.readProgress(moment)],
    ["markStarved", (store) => store.markStarved(FILL_TENANT, moment.run, 5n as never)],
    ["listClaimCandidates", (store) => store.listClaimCandidates({ ...moment, limit: 1, spread: 0 })],
    ["listShards", (store) => store.listShards({ ...moment, after: undefined, limit: 1, filter: {} })],
    ["listRuns", (store) => store.listRuns({ tenant: FILL_TENANT, after: undefined, limit: 1 })],
    ["listTenants", (store) => store.listTenants({ after: undefined, limit: 1 })],
    ["fsck", (store) => fsck(store.inspect())],
  ];

  test.each(calls)("fails %s", async (_name, call) => {
    const { store, dispose } = await makeStore();
    await store.close();
    await store.close();
    expect(await call(store)).toMatchObject({ ok: false, error: { kind: "Transient" } });
    await dispose();
  });

  test("refuses writes, and waited for the pending ones", async () => {
    const { store, dispose } = await makeStore();
    const underWay = fillStore(store, { runs: 1, from: 1 });
    const closed = store.close();
    expect(await underWay).toMatchObject({ made: 1 });
    await closed;
    expect(await fillStore(store, { runs: 1, from: 2 })).toMatchObject({ made: 0, refusal: { kind: "Failed" } });
    await dispose();
  });

  test("is closed at the end of its block", async () => {
    const { store, dispose } = await makeStore();
    await store[Symbol.asyncDispose]();
    expect(store.readRun(FILL_TENANT, moment.run)).toMatchObject({ ok: false });
    await dispose();
  });

  test("stops a running check, wherever it is", async () => {
    for (const steps of [0, 1, 30]) {
      const { store, dispose } = await makeStore();
      await fillStore(store, { runs: 40, from: 1 });
      const checked = fsck(store.inspect());
      for (let step = 0; step < steps; step++) await Promise.resolve();
      await store.close();
      expect(await checked).toMatchObject({ ok: false, error: { kind: "Transient" } });
      await dispose();
    }
  });

  test("waits for inspections to be closed", async () => {
    const { store, dispose } = await makeStore();
    await fillStore(store, { runs: 1, from: 1 });
    const view = await store.inspect().look();
    let isClosed = false;
    const closed = store.close().then(() => (isClosed = true));
    await expect(view.runs()[Symbol.asyncIterator]().next()).rejects.toThrow("closed");
    expect(isClosed).toBe(false);
    await view.close();
    await view.close();
    await closed;
    await dispose();
  });
});
