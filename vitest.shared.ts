import { defineProject, type UserWorkspaceConfig } from "vitest/config";

// Tests run on the sources of every package, so that no build can be stale under them.
// The conditions must be set in each project: vitest does not hand them down.
// Without `module`: what some packages offer under that name are files that Node cannot load.
const conditions = ["@gossip/source", "node", "development|production"];

// Node looks after the file descriptors of threads in a way that does not go together with pipes that a socket reads.
const RUN_IN_PROCESSES: readonly string[] = ["cli"];

export function project(name: string, include: readonly string[] = ["src/**/*.test.ts"]): UserWorkspaceConfig {
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      name,
      include: [...include],
      environment: "node",
      pool: RUN_IN_PROCESSES.includes(name) ? "forks" : "threads",
      // No test measures time; a limit only ends one that hangs, also on a busy machine.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      setupFiles: [new URL("./vitest.setup.ts", import.meta.url).pathname],
    },
  });
}
