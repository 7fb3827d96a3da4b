import { assert } from "@gossip/stdx";
import type { TestRunner } from "@gossip/coordination/testing";
import { estimatingCases } from "./estimating-cases.ts";
import { planningCases } from "./planning-cases.ts";
import { readingCases } from "./reading-cases.ts";
import type { SourceCase } from "./source-case.ts";
import type { SourceFixture } from "./source-fixture.ts";
import { SourceWorld } from "./source-world.ts";
import { stoppingCases } from "./stopping-cases.ts";

/** All cases, by the part of the contract that they belong to. */
export const SOURCE_CASES: Readonly<Record<string, readonly SourceCase[]>> = {
  reading: readingCases,
  planning: planningCases,
  estimating: estimatingCases,
  stopping: stoppingCases,
};

const CASE_TIMEOUT_MS = 120_000;
const FEWEST_KEYS = 8;

/**
 * The contract that every source keeps, as tests: call it in a test file with the runner's functions.
 *
 * ```text
 * import { describe, expect, test } from "vitest";
 * describeSource("my source", () => ({ source: mySource(), keys: allKeysInOrder }), { describe, expect, test });
 * ```
 *
 * `makeFixture` is called for every case. The runner is passed in and not imported, so that nothing of this package
 * depends on one.
 */
export function describeSource(
  name: string,
  makeFixture: () => Promise<SourceFixture> | SourceFixture,
  { describe, test, expect }: TestRunner,
): void {
  describe(`${name} as a source`, () => {
    for (const [part, cases] of Object.entries(SOURCE_CASES)) {
      describe(part, () => {
        for (const sourceCase of cases)
          test(sourceCase.name, () => runSourceCase(sourceCase, makeFixture, expect), CASE_TIMEOUT_MS);
      });
    }
  });
}

/** Run one case against a new source. */
export async function runSourceCase(
  { run }: SourceCase,
  makeFixture: () => Promise<SourceFixture> | SourceFixture,
  expect: TestRunner["expect"],
): Promise<void> {
  const fixture = await makeFixture();
  try {
    assert(
      fixture.keys.length >= FEWEST_KEYS,
      () => `a source under test needs at least ${FEWEST_KEYS} items, got ${fixture.keys.length}`,
    );
    await run(new SourceWorld(fixture, expect));
  } finally {
    await fixture.source.close?.();
    await fixture.dispose?.();
  }
}
