import { fileURLToPath } from "node:url";
import { defineProject, type UserWorkspaceConfig } from "vitest/config";

// Tests run on the sources of every package, so that no build can be stale under them.
// The conditions must be set in each project: vitest does not inherit them.
// Without `module`: some packages offer files under that name that Node cannot load.
const conditions = ["@gossip/source", "node", "development|production"];

// Node manages the file descriptors of threads in a way that breaks pipes which a socket reads.
const RUN_IN_PROCESSES: readonly string[] = ["cli", "examples", "processes"];

/**
 * Projects whose test files have a thread and its modules for themselves. All others share a thread or process and the modules
 * in it, because their modules keep no state that one file could leave to the next: loading the modules again for every
 * file takes longer than most of these tests.
 */
const LOAD_ALONE: readonly string[] = ["tools", "heap"];

/** Tests that count allocated bytes. Earlier tests in the same thread would change their numbers. */
export const HEAP_TESTS: readonly string[] = ["*.heap.test.ts", "allocation.test.ts"];

/** What runs once before all tests that start the command. */
const SHARE_BUNDLE = fileURLToPath(new URL("./packages/cli/src/processes/share-bundle.fixture.ts", import.meta.url));

export interface TestFiles {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

export function project(
  name: string,
  { include = ["src/**/*.test.ts"], exclude = [] }: TestFiles = {},
): UserWorkspaceConfig {
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      name,
      include: [...include],
      exclude: ["**/node_modules/**", ...exclude, ...(name === "heap" ? [] : HEAP_TESTS.map((heap) => `**/${heap}`))],
      environment: "node",
      pool: RUN_IN_PROCESSES.includes(name) ? "forks" : "threads",
      isolate: LOAD_ALONE.includes(name),
      // No test measures time; a limit only ends one that hangs, also on a busy machine.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      ...(RUN_IN_PROCESSES.includes(name) ? { globalSetup: SHARE_BUNDLE } : {}),
      setupFiles: [fileURLToPath(new URL("./vitest.setup.ts", import.meta.url))],
    },
  });
}
