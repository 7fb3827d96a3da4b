import { claimCases } from "./claim-cases.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import type { StoreFixture, TestRunner } from "./test-runner.ts";
import { decisionCases } from "./decision-cases.ts";
import { lifecycleCases } from "./lifecycle-cases.ts";
import { listingCases } from "./listing-cases.ts";
import { noteCases } from "./note-cases.ts";
import { noteStoreCases } from "./note-store-cases.ts";
import { registrationCases } from "./registration-cases.ts";
import { runCases } from "./run-cases.ts";
import { scenarioCases } from "./scenario-cases.ts";
import { settingCases } from "./setting-cases.ts";
import { splitCases } from "./split-cases.ts";
import { statusCountCases } from "./status-count-cases.ts";
import { storeCases } from "./store-cases.ts";
import { World } from "./world.ts";

/** All cases, by part of the contract. */
export const CONFORMANCE_CASES: Readonly<Record<string, readonly ConformanceCase[]>> = {
  "the store port": storeCases,
  "status counts": statusCountCases,
  listing: listingCases,
  "the life of a shard": lifecycleCases,
  registration: registrationCases,
  runs: runCases,
  splits: splitCases,
  claiming: claimCases,
  decisions: decisionCases,
  scenarios: scenarioCases,
  "notes in the store port": noteStoreCases,
  notes: noteCases,
  settings: settingCases,
};

/** Enough for ten thousand shards on a remote store and a busy machine. */
const CASE_TIMEOUT_MS = 120_000;

/**
 * Registers the tests that every store must pass. Call it in a test file with the runner's functions.
 *
 * ```text
 * import { describe, expect, test } from "vitest";
 * describeCoordinationStore("my store", () => ({ store: new MyStore() }), { describe, expect, test });
 * ```
 *
 * `makeFixture` is called for every case and returns an empty store. The runner is passed in, so that this package
 * depends on none: any runner with `describe`, `test` and an `expect` with `toBe`, `toEqual`, `toMatchObject` and
 * `toBeGreaterThan` works.
 */
export function describeCoordinationStore(
  name: string,
  makeFixture: () => Promise<StoreFixture> | StoreFixture,
  { describe, test, expect }: TestRunner,
): void {
  describe(`${name} as a coordination store`, () => {
    for (const [part, cases] of Object.entries(CONFORMANCE_CASES)) {
      describe(part, () => {
        for (const { name: sentence, run } of cases) {
          test(
            sentence,
            async () => {
              const fixture = await makeFixture();
              try {
                await run(new World(fixture, expect));
              } finally {
                await fixture.dispose?.();
              }
            },
            CASE_TIMEOUT_MS,
          );
        }
      });
    }
  });
}
