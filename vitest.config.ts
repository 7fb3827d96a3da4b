import { availableParallelism } from "node:os";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { defineConfig } from "vitest/config";
import { HEAP_TESTS, project } from "./vitest.shared.ts";

/** Files that wait for processes and servers. They start first, so that none of them is left alone at the end. */
const SLOW =
  /\/(packaging|boundaries|planted|examples|e2e|chaos|start)\/|fault-run|explorer|keep-leases|inspection|radosgw|differential/;

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
      // One project: each of its own would transform and load most packages again.
      project("examples", { include: ["examples/*/*.test.ts"] }),
      "tools/vitest.config.ts",
      project("heap", { include: HEAP_TESTS.map((name) => `packages/*/src/**/${name}`) }),
    ],
    // Four more than there are cores: there are always tests that wait for a process or a server.
    maxWorkers: availableParallelism() + 4,
    sequence: { sequencer: SlowFirst },
    coverage: { provider: "v8", include: ["packages/*/src/**/*.ts"], reporter: ["text", "json-summary"] },
  },
});
