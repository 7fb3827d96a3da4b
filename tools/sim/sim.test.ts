// A simulator that finds something at night must leave a line that finds it again in the morning. So what it prints is
// read back, and a run that fails is made to.
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import type { SimOptions } from "../../packages/coordination/src/testing/sim/sim-options.ts";
import { simulate } from "../../packages/coordination/src/testing/sim/simulation.ts";
import { ROOT } from "../layers/layers.ts";
import { parseSimArgs } from "./args.ts";
import { describeFailure } from "./print.ts";
import { StateCoverage } from "./state-coverage.ts";

function sim(...args: string[]): { status: number | null; output: string } {
  const command = ["--import", "./tools/ts/register.mjs", "--conditions=@gossip/source", "tools/sim/main.ts", ...args];
  const run = spawnSync(process.execPath, command, { cwd: ROOT, encoding: "utf8" });
  return { status: run.status, output: run.stdout + run.stderr };
}

describe("pnpm sim", () => {
  test("says how fast it was, what came up and what broke", () => {
    const { status, output } = sim("--seeds", "3", "--fault", "radioactive");

    expect(output).toMatch(/^3 seeds, \d+ operations, \d+ operations per second$/m);
    expect(output).toMatch(/^events +\d+ of \d+ kinds: AcquireOk \d+/m);
    expect(output).toMatch(/^rejections +\d+ of \d+ kinds: /m);
    expect(output).toMatch(/^violations +0$/m);
    expect(output).toMatch(/^converged +3 of 3$/m);
    expect(status).toBe(0);
  });
});

describe("StateCoverage", () => {
  test("meets the states of a shard's life, and the steps between them", async () => {
    const coverage = new StateCoverage();
    await simulate({ seed: 1n, level: "SunnyDay", wrapStore: coverage.watch });

    const { states, steps } = coverage.met;
    expect(states).toContain("run Active");
    expect(states.some((state) => state.startsWith("Done/free"))).toBe(true);
    expect(steps.some((step) => /^Active\/free.* -> Active\/leased/.test(step))).toBe(true);
    expect(steps.length).toBeGreaterThan(states.length);
  });
});

describe("parseSimArgs", () => {
  test.each([
    { args: ["--fault", "mild"], says: "--fault must be one of sunnyday, stormy, radioactive, mixed; got mild" },
    { args: ["--seed", "1x"], says: "--seed must be a whole number below 2^64, got 1x" },
    { args: ["--seed", "18446744073709551616"], says: "--seed must be a whole number below 2^64" },
    { args: ["--seeds", "many"], says: "--seeds must be a whole number below 10,000,000, got many" },
    { args: ["--steps", "x"], says: "--steps must be like 0-3,7, got x" },
    { args: ["--sneeze"], says: "--sneeze" },
  ])("refuses $args with a sentence", ({ args, says }) => {
    expect(() => parseSimArgs(args)).toThrow(says);
  });

  test("takes the levels in turn by default", () => {
    expect(parseSimArgs(["--seeds", "4", "--seed", "10"]).runs.map(({ seed, level }) => `${seed} ${level}`)).toEqual([
      "10 SunnyDay",
      "11 Stormy",
      "12 Radioactive",
      "13 SunnyDay",
    ]);
  });

  test("one seed is one run", () => {
    expect(parseSimArgs(["--seed", "7", "--fault", "stormy"]).runs).toEqual([
      { seed: 7n, level: "Stormy", keepsTrace: false },
    ]);
  });
});

describe("describeFailure", () => {
  test("ends in a line that breaks the same rule again", async () => {
    const broken: Pick<SimOptions, "wrapStore"> = {
      wrapStore: (store) => {
        const commit = store.commit.bind(store);
        store.commit = (sets) =>
          commit(sets.map((set) => (set.kind === "SplitShard" ? { ...set, created: set.created.slice(1) } : set)));
        return store;
      },
    };
    const options: SimOptions = { seed: 3n, level: "Stormy", ...broken };
    const failed = await simulate(options);

    const text = await describeFailure(options, failed);

    const line = text.split("\n").at(-1)!.trim();
    expect(line).toMatch(/^pnpm sim --seed 3 --fault stormy --steps [\d,-]+$/);
    const [again] = parseSimArgs(line.split(" ").slice(2)).runs;
    const { violations } = await simulate({ ...again!, ...broken });
    expect(violations.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(failed.violations.slice(0, 1).map(({ kind }) => kind)),
    );
  });
});
