// Disks flip bits, and copies end early. The engine trusts its file: if it is damaged, the engine kills the process
// that reads it, or never returns. The caller must always get a typed result.

import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { raiseFamily } from "@gossip/coordination-fsck/testing";
import { effort, isExploring } from "@gossip/tools/effort";
import { waitFor } from "@gossip/tools/fault-run";
import { unwrap } from "@gossip/stdx";
import { afterAll, expect, test } from "vitest";
import { fillStore } from "../fill-store.fixture.ts";
import { openLmdbStore } from "../open/open-lmdb-store.ts";
import { makeFolder } from "../temporary-store.fixture.ts";
import { processes } from "../worker-process.fixture.ts";

const COPIES = effort({ usual: 28, exploring: 700 });
const FIXTURE = "./damaged-copies.fixture.ts";

afterAll(() => processes.remove());

/** Counts the results by kind. */
function countKinds(lines: readonly Record<string, string | number | undefined>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verified, opened, checked } of lines) {
    const kind = [verified, opened, checked].filter((part) => part !== undefined).join(" ");
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

test(`${COPIES} damaged copies of a store: never a hang, never a dead caller, always a typed answer`, async () => {
  const folder = await makeFolder();
  const [from, to] = [join(folder.path, "whole"), join(folder.path, "copies")];
  await mkdir(to);
  const store = unwrap(await openLmdbStore({ path: from, durability: "Written" }));
  await raiseFamily(store, { seed: 11, steps: 60 });
  await fillStore(store, { runs: 2, from: 1 });
  await store.close();
  // The bundle looks for this process beside itself.
  const script = await processes.prepare(FIXTURE);
  await copyFile(await processes.prepare("./inspect/walk-process.ts"), join(dirname(script), "walk-process.mjs"));

  const { code, signal, output } = await waitFor(await processes.start(FIXTURE, { from, to, count: COPIES }));
  const lines = output
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, string | number | undefined>);
  await folder.dispose();

  if (isExploring) process.stdout.write(`${JSON.stringify(countKinds(lines))}\n`);
  expect({ code, signal, copies: lines.length }).toEqual({ code: 0, signal: null, copies: COPIES });
  const kinds = new Set(lines.flatMap(({ verified, opened, checked }) => [verified, opened, checked]));
  for (const kind of kinds)
    expect(["ok", "StoreDamaged", "NotAStore", "Truncated", "Corruption", undefined]).toContain(
      typeof kind === "number" ? "ok" : kind,
    );
  // Otherwise no copy was damaged.
  expect(kinds).toContain("StoreDamaged");
});
