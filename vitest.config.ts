import { availableParallelism } from "node:os";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { defineConfig } from "vitest/config";
import { HEAP_TESTS, project } from "./vitest.shared.ts";

/** Files that wait for processes and servers. They start first, so that none of them is left alone at the end. */
const SLOW = /\/(packaging|boundaries|planted|examples|e2e|chaos|start)\/|fault-run|explorer|keep-leases|inspection/;

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [
      ...sorted.filter(({ moduleId }) => SLOW.test(moduleId)),
      ...sorted.filter(({ moduleId }) => !SLOW.test(moduleId)),
    ];
  }
}

export default defineConfig({
  test: {
    projects: [
      "packages/*/vitest.config.ts",
      "examples/*/vitest.config.ts",
      "tools/vitest.config.ts",
      project("heap", { include: HEAP_TESTS.map((name) => `packages/*/src/**/${name}`) }),
    ],
    // One more than there are cores: there is always a test that waits for a process or a server.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowFirst },
    coverage: { provider: "v8", include: ["packages/*/src/**/*.ts"], reporter: ["text", "json-summary"] },
  },
});
