// What the three detectors say of one copy of the package. Everything is loaded from the copy, so that what is judged is
// what was planted in.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Describe from "../../packages/coordination/src/testing/conformance/describe-coordination-store.ts";
import type * as World from "../../packages/coordination/src/testing/conformance/world.ts";
import type * as Worlds from "../../packages/coordination/src/testing/explore/explore-worlds.ts";
import type * as Explore from "../../packages/coordination/src/testing/explore/explore.ts";
import type * as Simulation from "../../packages/coordination/src/testing/sim/simulation.ts";
import type * as Memory from "../../packages/coordination/src/memory/memory-store.ts";
import { expectation } from "./expectation.ts";
import type { Detector } from "./planted-bugs.ts";

/** What was found first; `undefined` if nothing was. */
export type Finding = string | undefined;

/** Thorough is enough for every bug that the simulator is said to catch. */
const SEEDS = { glance: 9, thorough: 60 } as const;
const GLANCE_STATES = 3000;
const LEVELS = ["Radioactive", "Stormy", "SunnyDay"] as const;
const SLAB_CAPACITY = 1 << 20;

/** How hard to look: a clean copy need not be looked at as hard as a bug that hides. */
export type Effort = "glance" | "thorough";

export const DETECT: Readonly<Record<Detector, (sources: string, effort: Effort) => Promise<Finding>>> = {
  conformance: runConformance,
  explorer: runExplorer,
  simulator: runSimulator,
};

async function runConformance(sources: string): Promise<Finding> {
  const { CONFORMANCE_CASES } = await load<typeof Describe>(
    sources,
    "testing/conformance/describe-coordination-store.js",
  );
  const { World: ConformanceWorld } = await load<typeof World>(sources, "testing/conformance/world.js");
  const { MemoryStore } = await load<typeof Memory>(sources, "memory/memory-store.js");
  for (const { name, run } of Object.values(CONFORMANCE_CASES).flat()) {
    try {
      await run(new ConformanceWorld({ store: new MemoryStore({ slabCapacity: SLAB_CAPACITY }) }, expectation));
    } catch {
      return name;
    }
  }
  return undefined;
}

async function runExplorer(sources: string, effort: Effort): Promise<Finding> {
  const { explore } = await load<typeof Explore>(sources, "testing/explore/explore.js");
  const { EXPLORE_WORLDS } = await load<typeof Worlds>(sources, "testing/explore/explore-worlds.js");
  // Most bugs show within a few moves: look a little way into every world before looking at all of any.
  for (const stopAfter of effort === "glance" ? [GLANCE_STATES] : [GLANCE_STATES, Infinity]) {
    for (const [name, bounds] of Object.entries(EXPLORE_WORLDS)) {
      const { failure } = explore({ bounds, stopAfter });
      if (failure !== undefined)
        return `${failure.violations[0]!.kind} in ${failure.trace.length} moves, in the world of ${name}`;
    }
  }
  return undefined;
}

async function runSimulator(sources: string, effort: Effort): Promise<Finding> {
  const { simulate } = await load<typeof Simulation>(sources, "testing/sim/simulation.js");
  for (let seed = 0; seed < SEEDS[effort]; seed++) {
    const { violations, converged } = await simulate({ seed: BigInt(seed), level: LEVELS[seed % LEVELS.length]! });
    if (violations.length > 0) return `${violations[0]!.kind} with seed ${seed}`;
    if (!converged) return `work left undone with seed ${seed}`;
  }
  return undefined;
}

async function load<Module>(sources: string, file: string): Promise<Module> {
  return (await import(pathToFileURL(join(sources, file)).href)) as Module;
}
