// Sources, runtime and sink are tried by themselves elsewhere. Here they are tried together: what a file holds in the end is what its
// user sees of all of it, and it must be every line once, whichever worker stopped, lost a lease or split a shard on the way.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runWorkers } from "../../runtime/run-workers.ts";
import { startRun } from "../../runtime/start-run.ts";
import type { Item, Source } from "../../sources/source.ts";
import { fileTreeSource } from "../../sources/file-tree/file-tree-source.ts";
import { linesSource } from "../../sources/lines/lines-source.ts";
import { sinkTokens } from "../sink-tokens.ts";
import { assembleNdjson } from "./assemble-ndjson.ts";
import { ndjsonSink } from "./ndjson-sink.ts";

const run = { tenant: TenantId.fromBytes(new Uint8Array(32).fill(1)), run: RunId.fromRaw(1n) };
const LEASE = 60_000n;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-run-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Work on a source in several goes: some are aborted, in some every lease runs out under its holder. */
async function workToFile<I extends Item>(
  source: Source<I>,
  resultOf: (item: I) => unknown,
  goes: readonly ("abort" | "lapse" | "end")[],
): Promise<string> {
  const clock = new ManualClock();
  const coordinator = new Coordinator({ store: new MemoryStore(), clock });
  const path = join(folder, "out.ndjson");
  unwrap(await startRun({ coordinator, run, source, config: { leaseDuration: LEASE }, shardCount: 3 }));
  for (const [index, go] of goes.entries()) {
    const stop = new AbortController();
    let count = 0;
    const process = async (item: I) => {
      if (++count === 40 + 13 * index && go === "lapse") clock.advance(LEASE + 1n);
      if (count === 40 + 13 * index && go === "abort") stop.abort();
      await Promise.resolve();
      return resultOf(item);
    };
    const options = {
      coordinator,
      run,
      source,
      process,
      concurrency: 2,
      itemConcurrency: 5,
      checkpointEvery: { items: 7 },
      signal: stop.signal,
      graceMs: 0,
    };
    // Two processes, as it were.
    await Promise.all([1, 2].map(() => runWorkers<I, unknown>({ ...options, sink: ndjsonSink({ path }) })));
  }
  const tokens = unwrap(await sinkTokens(coordinator, run));
  unwrap(await assembleNdjson({ path, run: run.run, tokens }));
  expect(readdirSync(folder).filter((name) => name.startsWith("out"))).toEqual(["out.ndjson"]);
  return readFileSync(path, "utf8");
}

const GOES = [
  ["end"],
  ["abort", "abort", "abort", "end"],
  ["lapse", "end"],
  ["lapse", "abort", "lapse", "abort", "lapse", "end"],
] as const;

test.each(GOES.map((goes) => ({ goes })))(
  "every line of a file is in the output once and in order: $goes",
  async ({ goes }) => {
    const path = join(folder, "lines.txt");
    const lines = Array.from({ length: 700 }, (_, index) => `line ${index} ${"x".repeat(index % 11)}`);
    writeFileSync(path, lines.join("\n"));
    const written = await workToFile(linesSource({ path }), ({ line }) => line, goes);
    expect(written).toBe(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  },
);

test.each(GOES.map((goes) => ({ goes })))(
  "every file of a tree is in the output once and in order: $goes",
  async ({ goes }) => {
    const root = mkdtempSync(join(tmpdir(), "gossip-run-tree-"));
    const names = Array.from({ length: 400 }, (_, index) => `${index}.txt`);
    for (const name of names) writeFileSync(join(root, name), "");
    const written = await workToFile(fileTreeSource({ root }), ({ relativePath }) => relativePath, goes);
    rmSync(root, { recursive: true });
    expect(written).toBe(
      [...names]
        .sort()
        .map((name) => `${JSON.stringify(name)}\n`)
        .join(""),
    );
  },
);
