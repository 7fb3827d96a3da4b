// A failure of a damaged file that counts as one that passes is tried again and again, and the damage stays hidden. The engine
// also passes on numbers of the system. Node has no name for that of a quota that is used up, so users would read "the engine of
// the store failed (Unknown system error -122)" where they have to make room.

import { constants } from "node:os";
import { expect, test } from "vitest";
import { codeOf } from "./engine-codes.ts";
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

test.each(["ENOSPC", "EDQUOT"] as const)("a write that fails with %s has met a full disk", (name) => {
  const thrown = asThrown(constants.errno[name]);
  expect(failureFrom("lmdb.commit", thrown)).toMatchObject({ code: name, message: "the disk is full" });
});

test("every number of the system has its name, and those of the engine have theirs", () => {
  const numbers: Readonly<Record<string, number>> = constants.errno;
  for (const number of Object.values(numbers)) expect(numbers[codeOf({ code: number })!]).toBe(number);
  expect(codeOf({ code: -30792 })).toBe("MDB_MAP_FULL");
  expect(codeOf({ code: -1 })).toBe("-1");
});
