// A package that changes without a changeset is not released: its users never get the change, or get it without a reason.
import { cpSync, mkdtempSync, rmSync, writeFileSync, appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PACKAGES, packageFolder } from "../layers/layers.ts";
import { shippedHash } from "./shipped-hash.ts";
import { announced, currentHashes, readChangesets, readReleased, unannounced, withBundles } from "./unannounced.ts";

let copy: string;
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "gossip-shipped-"));
  for (const part of ["src", "package.json"])
    cpSync(join(packageFolder("tso"), part), join(copy, part), { recursive: true });
});
afterEach(() => rmSync(copy, { recursive: true, force: true }));

test("every package that changed since its release has a changeset", () => {
  expect(unannounced(currentHashes(), readReleased(), announced(readChangesets()))).toEqual([]);
});

test("a changed package without a changeset is found, and one with a changeset is not", () => {
  const names = announced(['---\n"@gossip/stdx": minor\n---\n\n"@gossip/scope": mentioned in the text only\n']);
  expect([...names]).toEqual(["stdx"]);
  expect(
    unannounced(
      { stdx: "new", scope: "new", tso: "old", fresh: "new" },
      { stdx: "old", scope: "old", tso: "old" },
      names,
    ),
  ).toEqual(["scope", "fresh"]);
});

test("a change of a layer is a change of the package that bundles it, and of no other", () => {
  const before = Object.fromEntries(PACKAGES.map((name) => [name, "old"]));
  const [old, changed] = [withBundles(before), withBundles({ ...before, stdx: "new" })];
  expect(PACKAGES.filter((name) => old[name] !== changed[name])).toEqual(["stdx", "cli"]);
});

test("a change of shipped source changes the hash", () => {
  const before = shippedHash(copy);
  appendFileSync(join(copy, "src/index.ts"), "\n");
  expect(shippedHash(copy)).not.toBe(before);
});

test("a change of a test does not change the hash", () => {
  const before = shippedHash(copy);
  writeFileSync(join(copy, "src/more.test.ts"), "");
  expect(shippedHash(copy)).toBe(before);
});
