// The engine opens the commit whose number is higher. If damage to a number makes that an older commit, acknowledged writes are gone and
// everything that is left is in order.

import { readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fillStore } from "../fill-store.fixture.ts";
import { openDatabase, PAGE_SIZE } from "../engine/open-database.ts";
import { openLmdbStore } from "./open-lmdb-store.ts";
import { makeFolder } from "../temporary-store.fixture.ts";

const TRANSACTION_AT = 152;

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(() => folder.dispose());

async function open(): Promise<string> {
  const opened = await openLmdbStore({ path: folder.path, durability: "Written" });
  if (opened.ok) await opened.value.close();
  return opened.ok ? "ok" : opened.error.kind;
}

/** Commit so often, and return the file and the numbers in its two meta pages. */
async function commitTimes(runs: number): Promise<{ readonly file: Buffer; readonly numbers: readonly number[] }> {
  const store = unwrap(await openLmdbStore({ path: folder.path, durability: "Written" }));
  await fillStore(store, { runs, from: 1 });
  await store.close();
  const file = readFileSync(join(folder.path, "data.mdb"));
  return { file, numbers: [0, PAGE_SIZE].map((page) => Number(file.readBigUInt64LE(page + TRANSACTION_AT))) };
}

test.each([2, 3, 4, 5])("after %d commits, a flipped bit in the number of a commit is found", async (runs) => {
  const { file, numbers } = await commitTimes(runs);
  expect(Math.abs(numbers[0]! - numbers[1]!)).toBe(1);
  expect(await open()).toBe("ok");
  for (const page of [0, PAGE_SIZE]) {
    for (const bit of [0, 1, 2, 3, 7]) {
      const damaged = Buffer.from(file);
      damaged[page + TRANSACTION_AT]! ^= 1 << bit;
      writeFileSync(join(folder.path, "data.mdb"), damaged);
      // A number of zero is that of a page that was never used.
      if (damaged[page + TRANSACTION_AT] === 0) continue;
      expect(await open(), `page ${page / PAGE_SIZE}, bit ${bit}`).toBe("StoreDamaged");
    }
  }
});

test("a compacted copy opens, before and after its first commits", async () => {
  await commitTimes(3);
  const db = openDatabase(folder.path, "Written");
  const copy = join(folder.path, "copy");
  await mkdir(copy);
  await db.backup(copy, true);
  await db.close();
  for (let commit = 0; commit < 4; commit++) {
    const store = unwrap(await openLmdbStore({ path: copy, durability: "Written" }));
    expect((await fillStore(store, { runs: 1, from: 100 + commit })).made).toBe(1);
    await store.close();
  }
});
