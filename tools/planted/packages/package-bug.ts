// A bug in a store or in the worker runtime, and the test of that package that must catch it.

/** What the bug breaks. */
export const AREAS = ["locking", "guards", "batching", "unknown outcomes", "keeper", "sink token"] as const;
export type Area = (typeof AREAS)[number];

export interface PackageBug {
  readonly name: string;
  readonly area: Area;
  readonly package: string;
  /** From the package's `src`, as is `test`. */
  readonly file: string;
  /** Must be there exactly once, however it is laid out. */
  readonly find: string;
  readonly replace: string;
  /** The narrowest test that must catch it. */
  readonly test: string;
  /** Words of the test's name; without them all tests of the file run. */
  readonly testName?: string;
  /** Whether `npm test` plants it. `npm run explore` plants all of them. */
  readonly isUsual?: boolean;
}
