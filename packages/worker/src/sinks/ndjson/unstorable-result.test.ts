// One result that cannot be written as JSON used to end the run for every worker, again and again.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { unwrap } from "@gossip/stdx";
import { afterAll, describe, expect, test } from "vitest";
import { runWorkers } from "../../runtime/run-workers.ts";
import { numberedSource, RUN, World, type NumberedItem } from "../../runtime/world.fixture.ts";
import { sinkTokens } from "../sink-tokens.ts";
import { assembleNdjson } from "./assemble-ndjson.ts";
import { ndjsonSink } from "./ndjson-sink.ts";

const COUNT = 30;
const folder = mkdtempSync(join(tmpdir(), "gossip-unstorable-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

const UNSTORABLE: Readonly<Record<string, unknown>> = {
  BigInt: { value: 1n },
  cyclic,
  "too large": "x".repeat(2000),
  "a throwing toJSON": {
    toJSON() {
      throw new Error("no");
    },
  },
};

let runs = 0;

async function runWith(result: unknown, onItemFailure: "skip" | "park", itemConcurrency: number) {
  const world = new World();
  const source = numberedSource(COUNT);
  await world.start(source);
  const path = join(folder, `out-${runs++}.ndjson`);
  const sink = ndjsonSink<NumberedItem, unknown>({
    path,
    maxRecordSize: 1000,
    toSkippedRecord: (skipped) => (skipped.kind === "Failure" ? { failed: skipped.item.n } : undefined),
  });
  // The first items finish last, so that results wait in the window.
  const process = async ({ n }: NumberedItem) => {
    for (let turn = 0; turn < (n % 5 === 0 ? 20 : 1); turn++) await setImmediate();
    return n === 12 ? result : { n };
  };
  const options = { coordinator: world.coordinator, run: RUN, source, sink, process };
  const summary = await runWorkers({ ...options, onItemFailure, itemConcurrency });
  return { world, path, summary };
}

describe.each(Object.keys(UNSTORABLE))("a result that cannot be stored (%s)", (name) => {
  test.each([1, 10])("fails its item and no other, %i at a time", async (itemConcurrency) => {
    const { world, path, summary } = await runWith(UNSTORABLE[name], "skip", itemConcurrency);
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, items: COUNT - 1, failures: 1 });
    const tokens = unwrap(await sinkTokens(world.coordinator, RUN));
    unwrap(await assembleNdjson({ path, run: RUN.run, tokens }));
    const lines = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual(Array.from({ length: COUNT }, (_, n) => (n === 12 ? { failed: 12 } : { n })));
  });

  test("parks the shard before the item where items are not skipped", async () => {
    const { world, summary } = await runWith(UNSTORABLE[name], "park", 10);
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, failures: 1, shards: { parked: 1 } });
    const [shard] = unwrap(await world.coordinator.listShards({ ...RUN, limit: 10 })).items;
    const record = unwrap(
      await world.coordinator.getShard({ tenant: RUN.tenant, key: { run: RUN.run, shard: shard!.shard } }),
    );
    // The last key is that of item 11.
    expect(record!.cursor.lastKey?.at(-1)).toBe(11);
  });
});
