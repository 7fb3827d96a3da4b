// A failure that cannot be replayed is lost, and a file that the explorer misses is never explored: both are checked here.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../layers/layers.ts";
import { parseMinutes } from "./args.ts";
import { CHAOS_SEED, effort, FIXED_SEED, isExploring, seededRandom } from "./effort.ts";
import { corpusTasks, entryFor, readCorpus } from "./corpus.ts";
import { CoverageOverTime } from "./coverage.ts";
import { fixedTasks, replayLine, simulate, tasksOf } from "./tasks.ts";
import { exploringFiles } from "./test-files.ts";

describe("exploringFiles", () => {
  const { soaks, properties } = exploringFiles();

  test("finds long runs through the fixtures that hold their length", () => {
    expect(soaks).toContain("packages/cli/src/e2e/killed-workers.test.ts");
    expect(soaks).toContain("packages/tso-server/src/chaos/chaos.file.test.ts");
    expect(soaks).toContain("packages/coordination-lmdb/src/fault-run.test.ts");
  });

  test("finds properties, and no file twice", () => {
    expect(properties).toContain("packages/stdx/src/compare-bytes.test.ts");
    expect(properties.filter((file) => soaks.includes(file))).toEqual([]);
  });

  test("leaves out what no seed changes", () => {
    expect([...soaks, ...properties]).not.toContain("packages/stdx/src/assert.test.ts");
  });
});

describe("tasksOf", () => {
  test("plays the properties and each long run from one seed", () => {
    const tasks = tasksOf(17);

    expect(tasks.map(({ name }) => name)).toEqual(["properties", ...exploringFiles().soaks]);
    expect(tasks[0]!.env).toEqual({ GOSSIP_EXPLORE: "1", FC_SEED: "17", GOSSIP_CHAOS_SEED: "17" });
  });
});

describe("fixedTasks", () => {
  test("names a model explorer that is there", () => {
    const explorer = fixedTasks().find(({ name }) => name === "model explorer")!;
    expect(explorer.files.every((file) => existsSync(join(ROOT, file)))).toBe(true);
  });
});

describe("replayLine", () => {
  const tasks = tasksOf(17);

  test("names the seeds and the files that failed", () => {
    expect(replayLine(tasks[0]!, ["packages/a.test.ts"])).toBe(
      "GOSSIP_EXPLORE=1 FC_SEED=17 GOSSIP_CHAOS_SEED=17 npx vitest run packages/a.test.ts",
    );
  });

  test("names every file if none is known to have failed", () => {
    expect(replayLine(tasks[1]!, [])).toBe(
      `GOSSIP_EXPLORE=1 FC_SEED=17 GOSSIP_CHAOS_SEED=17 npx vitest run ${tasks[1]!.name}`,
    );
  });

  test("of the simulator, is its own command", () => {
    expect(replayLine(simulate(17), [])).toMatch(/^node --import .* tools\/sim\/main\.ts --seeds \d+ --seed 17$/);
  });
});

describe("the corpus", () => {
  test("is played by tasks that name its seeds", () => {
    const corpus = readCorpus();
    const lines = corpusTasks(corpus).map((task) => replayLine(task, []));
    expect(lines).toHaveLength(corpus.length);
    lines.forEach((line, index) => expect(line).toContain(String(corpus[index]!.seed)));
  });

  test("gets an entry for a task that failed, which plays the same again", () => {
    const [properties] = tasksOf(17);
    const entry = entryFor(properties!, ["packages/a.test.ts"], "2026-11-17")!;
    expect(replayLine(corpusTasks([entry])[0]!, [])).toBe(replayLine(properties!, ["packages/a.test.ts"]));
    const simulator = entryFor(simulate(17), [], "2026-11-17")!;
    expect(corpusTasks([simulator])[0]!.args).toEqual(simulate(17).args);
  });

  test("gets no entry for what no seed changes, nor twice for the same", () => {
    const planted = fixedTasks().find(({ name }) => name === "planted bugs")!;
    expect(entryFor(planted, [], "2026-11-17")).toBeUndefined();
    expect(entryFor(corpusTasks()[0]!, [], "2026-11-17")).toBeUndefined();
  });
});

describe("CoverageOverTime", () => {
  test("adds up what tasks met, and shows how much of it was new", () => {
    const coverage = new CoverageOverTime();
    coverage.add(1, { seeds: 10, ops: 100, states: ["a", "b"], steps: ["a -> b"] });
    coverage.add(2, { seeds: 10, ops: 120, states: ["b", "c"], steps: ["a -> b", "b -> c"] });
    expect(coverage.latest).toBe("2.0 min: 20 seeds, 220 operations, 3 states, 2 steps between them (1 new)");
    expect(coverage.table().split("\n")).toHaveLength(3);
  });
});

describe("parseMinutes", () => {
  test.each([
    { args: [], minutes: 10 },
    { args: ["--minutes", "0.5"], minutes: 0.5 },
    { args: ["--minutes", "0"], minutes: undefined },
    { args: ["--minutes", "x"], minutes: undefined },
    { args: ["--hours", "1"], minutes: undefined },
    { args: ["5"], minutes: undefined },
  ])("of $args is $minutes", ({ args, minutes }) => {
    expect(parseMinutes(args)).toBe(minutes);
  });
});

describe("effort", () => {
  test("is the usual one unless exploring, from the fixed seed unless told another", () => {
    expect(effort({ usual: 1, exploring: 2 })).toBe(isExploring ? 2 : 1);
    if (process.env["GOSSIP_CHAOS_SEED"] === undefined) expect(CHAOS_SEED).toBe(FIXED_SEED);
  });
});

describe("seededRandom", () => {
  test("gives the same numbers for the same stream and others for another", () => {
    const draw = (stream: number): number[] => Array.from({ length: 5 }, seededRandom(stream));

    expect(draw(1)).toEqual(draw(1));
    expect(draw(2)).not.toEqual(draw(1));
    expect(draw(3).every((each) => each >= 0 && each < 1)).toBe(true);
  });
});
