import type { CoordinatorApi } from "../../coordinator/coordinator-api.ts";
import type { Coordinator } from "../../coordinator/coordinator.ts";
import type { CoordinationStore } from "../../store/coordination-store.ts";

/** An empty store for one case. */
export interface StoreFixture {
  readonly store: CoordinationStore;
  /** How the cases reach a coordinator: over a network, for example. Directly by default. */
  readonly connect?: (coordinator: Coordinator) => CoordinatorApi;
  /** How many shard copies the coordinators keep. None by default. */
  readonly shardCopies?: number;
  /** Called when the case has ended, whether it passed or failed. */
  readonly dispose?: () => Promise<void> | void;
}

/** What a case checks with. Vitest's and Jest's `expect` both fit. */
export type Expect = (actual: unknown) => {
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
  toMatchObject(expected: object): void;
  toBeGreaterThan(expected: number | bigint): void;
};

/** The functions of a test runner that the kit needs. Passed in, so that nothing here depends on one. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => void;
  readonly test: (name: string, run: () => Promise<void>, timeoutMs: number) => void;
  readonly expect: Expect;
}
