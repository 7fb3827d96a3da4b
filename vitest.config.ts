import { availableParallelism } from "node:os";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { defineConfig } from "vitest/config";
import { HEAP_TESTS, project } from "./vitest.shared.ts";

/** Files that wait for processes and servers. They start first, so that none of them is left alone at the end. */
const SLOW =
  /\/(packaging|boundaries|planted|examples|e2e|chaos|start)\/|fault-run|explorer|keep-leases|inspection|radosgw|differential/;

/** What `--project` names: each loads what it imports, and most packages import most others. */
const ONE_BY_ONE = ["packages/*/vitest.config.ts", project("examples", { include: ["examples/*/*.test.ts"] })];

/** The same tests, for runs without `--project`: whatever several packages import is transformed once, and loaded once a worker. */
const TOGETHER = [
  project("processes", { include: ["packages/cli/src/**/*.test.ts", "examples/*/*.test.ts"] }),
  project("packages", { include: ["packages/*/src/**/*.test.ts"], exclude: ["packages/cli/**"] }),
];

const isByName = process.argv.some((argument) => argument.startsWith("--project"));

/** A worker keeps the modules that it has loaded only while the next file is of the same project. */
const RANKS: Readonly<Record<string, readonly [slow: number, other: number]>> = { tools: [0, 5], processes: [1, 2] };

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId, project: { name } }: TestSpecification): number => {
      const [slow, other] = RANKS[name] ?? [3, 4];
      return SLOW.test(moduleId) ? slow : other;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    projects: [
      ...(isByName ? ONE_BY_ONE : TOGETHER),
      "tools/vitest.config.ts",
      project("heap", { include: HEAP_TESTS.map((name) => `packages/*/src/**/${name}`) }),
    ],
    // Four more than there are cores: there are always tests that wait for a process or a server.
    maxWorkers: availableParallelism() + 4,
    sequence: { sequencer: SlowFirst },
    coverage: { provider: "v8", include: ["packages/*/src/**/*.ts"], reporter: ["text", "json-summary"] },
  },
});
