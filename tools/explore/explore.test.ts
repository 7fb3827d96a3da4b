// A failure that cannot be replayed is lost, and a file that the explorer misses is never explored: both are checked here.
import { describe, expect, test } from "vitest";
import { parseMinutes } from "./args.ts";
import { CHAOS_SEED, effort, FIXED_SEED, isExploring, seededRandom } from "./effort.ts";
import { replayLine, tasksOf } from "./tasks.ts";
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
  test("plays the simulator, the properties and each long run from one seed", () => {
    const tasks = tasksOf(17);

    expect(tasks.map(({ name }) => name)).toEqual(["simulator", "properties", ...exploringFiles().soaks]);
    expect(tasks[0]!.args).toEqual(expect.arrayContaining(["--seed", "17"]));
    expect(tasks[1]!.env).toEqual({ GOSSIP_EXPLORE: "1", FC_SEED: "17", GOSSIP_CHAOS_SEED: "17" });
  });
});

describe("replayLine", () => {
  const tasks = tasksOf(17);

  test("names the seeds and the files that failed", () => {
    expect(replayLine(tasks[1]!, ["packages/a.test.ts"])).toBe(
      "GOSSIP_EXPLORE=1 FC_SEED=17 GOSSIP_CHAOS_SEED=17 npx vitest run packages/a.test.ts",
    );
  });

  test("names every file where none is known to have failed", () => {
    expect(replayLine(tasks[2]!, [])).toBe(
      `GOSSIP_EXPLORE=1 FC_SEED=17 GOSSIP_CHAOS_SEED=17 npx vitest run ${tasks[2]!.name}`,
    );
  });

  test("of the simulator, is its own command", () => {
    expect(replayLine(tasks[0]!, [])).toMatch(/^node --import .* tools\/sim\/main\.ts --seeds \d+ --seed 17$/);
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
