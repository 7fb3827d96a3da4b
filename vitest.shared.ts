import { fileURLToPath } from "node:url";
import { defineProject, type UserWorkspaceConfig } from "vitest/config";

// Tests run on the sources of every package, so that no build can be stale under them.
// The conditions must be set in each project: vitest does not inherit them.
// Without `module`: some packages offer files under that name that Node cannot load.
const conditions = ["@gossip/source", "node", "development|production"];

// Node manages the file descriptors of threads in a way that breaks pipes which a socket reads.
const RUN_IN_PROCESSES: readonly string[] = ["cli", "examples"];

/**
 * Packages whose test files share a thread or process and the modules in it, because their modules keep no state that one file
 * could leave to the next. Loading the modules again for every file takes longer than most of these tests.
 */
const SHARE_MODULES: readonly string[] = [
  "cli",
  "client",
  "console",
  "contracts",
  "coordination",
  "coordination-codec",
  "coordination-errors",
  "coordination-etcd",
  "coordination-fsck",
  "coordination-lmdb",
  "coordination-postgres",
  "etcd-client",
  "examples",
  "frontier",
  "insight",
  "protocol",
  "scope",
  "server",
  "source-postgres",
  "source-s3",
  "stdx",
  "store-kit",
  "tso",
  "tso-server",
  "worker",
];

/** Tests that count allocated bytes. Earlier tests in the same thread would change their numbers. */
export const HEAP_TESTS: readonly string[] = ["*.heap.test.ts", "allocation.test.ts"];

/** What runs once before all tests of a package. */
const GLOBAL_SETUPS: Readonly<Record<string, string>> = { cli: "src/processes/share-bundle.fixture.ts" };

export function project(
  name: string,
  { include = ["src/**/*.test.ts"] }: { readonly include?: readonly string[] } = {},
): UserWorkspaceConfig {
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      name,
      include: [...include],
      exclude: ["**/node_modules/**", ...(name === "heap" ? [] : HEAP_TESTS.map((heap) => `src/**/${heap}`))],
      environment: "node",
      pool: RUN_IN_PROCESSES.includes(name) ? "forks" : "threads",
      isolate: !SHARE_MODULES.includes(name),
      // No test measures time; a limit only ends one that hangs, also on a busy machine.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      ...(GLOBAL_SETUPS[name] === undefined ? {} : { globalSetup: GLOBAL_SETUPS[name] }),
      setupFiles: [fileURLToPath(new URL("./vitest.setup.ts", import.meta.url))],
    },
  });
}
