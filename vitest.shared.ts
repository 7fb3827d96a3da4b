import { defineProject, type UserWorkspaceConfig } from "vitest/config";

// Tests run on the sources of every package, so that no build can be stale under them.
// The conditions must be set in each project: vitest does not hand them down.
const conditions = ["@gossip/source", "module", "node", "development|production"];

export function project(name: string, include: readonly string[] = ["src/**/*.test.ts"]): UserWorkspaceConfig {
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      name,
      include: [...include],
      environment: "node",
      pool: "threads",
      // No test measures time; a limit only ends one that hangs, also on a busy machine.
      testTimeout: 60_000,
      hookTimeout: 60_000,
      setupFiles: [new URL("./vitest.setup.ts", import.meta.url).pathname],
    },
  });
}
