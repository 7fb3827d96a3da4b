// An option that is wrong must say so before anything is claimed: what a worker does with it later, it does to a run.

import { describe, expect, test } from "vitest";
import { runWorkers } from "./run-workers.ts";
import type { RunWorkersOptions } from "./run-workers-options.ts";
import { makeSettings } from "./settings.ts";
import { numberedSource, RUN, World } from "./world.fixture.ts";

const junk: readonly [string, object, string][] = [
  ["coordinator", { coordinator: {} }, "coordinator must be a Coordinator"],
  ["source", { source: { name: "x" } }, "source must be a Source"],
  ["process", { process: "sha256sum" }, "process must be a function, got string"],
  ["concurrency", { concurrency: 0 }, "concurrency must be a whole number from 1 to 256"],
  ["concurrency", { concurrency: 257 }, "concurrency must be a whole number from 1 to 256"],
  ["itemConcurrency", { itemConcurrency: 1.5 }, "itemConcurrency must be a whole number from 1 to 10000"],
  ["graceMs", { graceMs: -1 }, "graceMs must be a whole number"],
  ["progressEveryMs", { progressEveryMs: 0 }, "progressEveryMs must be a whole number from 1"],
  ["worker", { worker: 7 }, "worker id must be"],
  ["checkpointEvery", { checkpointEvery: { items: 0 } }, "items between checkpoints must be"],
  ["checkpointEvery", { checkpointEvery: 5 }, "checkpointEvery must be an object, got number"],
  ["retry", { retry: { maxAttempts: 0 } }, "max attempts of retry must be"],
  ["readRetry", { readRetry: { baseMs: -1 } }, "first pause of readRetry must be"],
  ["onItemFailure", { onItemFailure: "ignore" }, "onItemFailure must be park or skip"],
  ["onProblem", { onProblem: true }, "onProblem must be park or skip"],
  ["split", { split: true }, "split must be an object or false, got boolean"],
  ["sink", { sink: {} }, "sink must be a Sink"],
  ["signal", { signal: {} }, "signal must be an AbortSignal"],
  ["keepLeases", { keepLeases: {} }, "keepLeases must name a module"],
  ["keepLeases", { keepLeases: { module: "/keeper.mjs", maxBlockedMs: 0 } }, "maxBlockedMs of keepLeases must be"],
  ["patienceMs", { patienceMs: Infinity }, "patienceMs must be a whole number"],
  ["itemTimeoutMs", { itemTimeoutMs: 0 }, "itemTimeoutMs must be a whole number from 1"],
  ["classifyFailure", { classifyFailure: "Item" }, "classifyFailure must be a function, got string"],
  ["dependencyRetry", { dependencyRetry: { factor: 0.5 } }, "factor of dependencyRetry must be a number from 1"],
  ["retry", { retry: { jitter: Number.NaN } }, "jitter of retry must be a number from 0 to 1, got NaN"],
];

describe("options of runWorkers", () => {
  const { coordinator } = new World();
  const options: RunWorkersOptions = { coordinator, run: RUN, source: numberedSource(1), process: () => undefined };

  test.each(junk)("%s: %o is refused", async (_name, change, sentence) => {
    await expect(runWorkers({ ...options, ...change } as RunWorkersOptions)).rejects.toThrow(sentence);
  });

  test("no options at all are refused", async () => {
    await expect(runWorkers(undefined as never)).rejects.toThrow(
      "runWorkers takes an object of options, got undefined",
    );
  });

  test("a worker id is drawn by default, another each time", () => {
    expect(makeSettings(options).worker).not.toBe(makeSettings(options).worker);
  });

  test("what is undefined is as if it were left out", () => {
    const given = Object.fromEntries(junk.slice(3).map(([name]) => [name, undefined]));
    expect(makeSettings({ ...options, ...given })).toMatchObject({
      concurrency: 1,
      itemConcurrency: 1,
      graceMs: 5000,
      stopWhenDone: true,
    });
  });
});
