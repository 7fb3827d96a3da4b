// A run over a folder that holds its own store, or its own results, would work on files that change while it works on them,
// and never come to an end.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { excludeBelow } from "./exclude-below.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-exclude-"));
  mkdirSync(join(folder, "data/.gossip"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const candidate = (path: string) => ({ path, pathBytes: Buffer.from(path), isFolder: true });

test("what lies below is left out, also before it is there", async () => {
  const exclude = await excludeBelow(join(folder, "data"), [
    join(folder, "data/.gossip"),
    join(folder, "data/sub/out.ndjson"),
    join(folder, "elsewhere"),
  ]);
  expect(
    [".gossip", "sub/out.ndjson", "sub", "out.ndjson", ".gossip2", "elsewhere"].map((path) =>
      exclude!(candidate(path)),
    ),
  ).toEqual([true, true, false, false, false, false]);
  expect(exclude!({ path: undefined, pathBytes: Uint8Array.of(0xff), isFolder: false })).toBe(false);
});

test("a link does not hide it", async () => {
  symlinkSync(join(folder, "data"), join(folder, "link"));
  const exclude = await excludeBelow(join(folder, "link"), [join(folder, "data/.gossip"), join(folder, "link/out")]);
  expect([".gossip", "out"].map((path) => exclude!(candidate(path)))).toEqual([true, true]);
});

test("nothing is asked where nothing is below", async () => {
  expect(
    await excludeBelow(join(folder, "data"), [join(folder, ".gossip"), join(folder, "data-too"), join(folder, "data")]),
  ).toBeUndefined();
});
