// A failure of a damaged file that counts as one that passes is tried again and again, and the damage stays hidden.

import { expect, test } from "vitest";
import { failureFrom } from "./lmdb-failure.ts";

const asThrown = (code: number) => Object.assign(new Error("of the engine"), { code });

test.each([
  ["MDB_PAGE_NOTFOUND", -30_797],
  ["MDB_CORRUPTED", -30_796],
  ["MDB_INVALID", -30_793],
  ["MDB_CURSOR_FULL", -30_787],
])("%s is corruption", (name, code) => {
  expect(failureFrom("lmdb.readRun", asThrown(code))).toMatchObject({ kind: "Corruption", code: name });
});

test.each([
  ["MDB_MAP_FULL", -30_792],
  ["MDB_READERS_FULL", -30_790],
])("%s passes", (name, code) => {
  expect(failureFrom("lmdb.readRun", asThrown(code))).toMatchObject({ kind: "Transient", code: name });
});
