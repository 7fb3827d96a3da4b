// A bench that cannot fail promises nothing. These tests feed the judge with figures that
// keep and that miss a bound, and let the heap meter see a form that allocates and one that does not.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../layers/layers.ts";
import { compare, type Bound, type NamedComparison } from "./comparison.ts";
import { heapBytesPerCall } from "./heap.ts";
import { judge, wordFor } from "./judge.ts";
import { measure, smoke, type FormResult } from "./measure.ts";
import type { Chart } from "./figure.ts";
import { performancePage, performancePictures, readRecord } from "./record.ts";
import { quantile, spreadOf } from "./statistics.ts";
import { svgChart } from "./svg-chart.ts";
import { warmUp } from "./warm-up.ts";

function result(name: string, samples: readonly number[], heapBytes?: number): FormResult {
  return { name, samples, ns: spreadOf(samples), heapBytes };
}

function isMissed(bound: Bound, ...results: readonly FormResult[]): boolean {
  const comparison: NamedComparison = { name: "under test", forms: {}, bounds: [bound] };
  return judge(comparison, results)[0]!.isMissed;
}

describe("judge", () => {
  const steady = (ns: number): number[] => Array.from({ length: 21 }, (_, round) => ns * (1 + (round % 3) * 0.001));

  test("a ratio bound holds up to the bound and is missed beyond it", () => {
    const bound: Bound = { form: "ours", ratioAtMost: 1.1, toBestOf: ["baseline"] };
    expect(isMissed(bound, result("ours", steady(109)), result("baseline", steady(100)))).toBe(false);
    expect(isMissed(bound, result("ours", steady(115)), result("baseline", steady(100)))).toBe(true);
  });

  test("the better of several baselines counts", () => {
    const bound: Bound = { form: "ours", ratioAtMost: 1, toBestOf: ["slow", "quick"] };
    expect(isMissed(bound, result("ours", steady(100)), result("slow", steady(400)), result("quick", steady(50)))).toBe(
      true,
    );
  });

  test("a miss within the noise of the samples is not a miss, and is not said to hold", () => {
    const noisy = Array.from({ length: 21 }, (_, round) => (round % 3 === 0 ? 80 : 160));
    const comparison: NamedComparison = {
      name: "under test",
      forms: {},
      bounds: [{ form: "ours", ratioAtMost: 1, toBestOf: ["baseline"] }],
    };
    const wordOf = (ours: readonly number[]) =>
      wordFor(judge(comparison, [result("ours", ours), result("baseline", steady(100))])[0]!);
    expect([wordOf(steady(90)), wordOf(noisy), wordOf(steady(110))]).toEqual(["holds", "unclear", "missed"]);
  });

  test("a ratio is taken inside its round, so that a slow moment of the machine cancels out", () => {
    const ours = [100, 100, 1000, 100, 1000];
    const baseline = [100, 100, 1000, 100, 1000];
    expect(
      isMissed(
        { form: "ours", ratioAtMost: 1, toBestOf: ["baseline"] },
        result("ours", ours),
        result("baseline", baseline),
      ),
    ).toBe(false);
  });

  test("heap bytes and rates are bounds too, and an unmeasured heap is a miss", () => {
    expect(isMissed({ form: "ours", heapBytesAtMost: 0 }, result("ours", steady(1), 0.4))).toBe(false);
    expect(isMissed({ form: "ours", heapBytesAtMost: 0 }, result("ours", steady(1), 16))).toBe(true);
    expect(isMissed({ form: "ours", heapBytesAtMost: 0 }, result("ours", steady(1)))).toBe(true);
    expect(isMissed({ form: "ours", perSecondAtLeast: 1e6 }, result("ours", steady(900)))).toBe(false);
    expect(isMissed({ form: "ours", perSecondAtLeast: 1e6 }, result("ours", steady(1200)))).toBe(true);
  });
});

describe("measuring", () => {
  test("the heap meter tells a form that allocates from one that does not", () => {
    const numbers = new Float64Array(64);
    let kept: unknown;
    const silent = heapBytesPerCall((calls) => {
      for (let call = 0; call < calls; call++) numbers[call & 63] = call;
    });
    const allocating = heapBytesPerCall((calls) => {
      for (let call = 0; call < calls; call++) kept = { call, other: call };
    });
    expect(kept).toBeDefined();
    expect(silent).toBeLessThan(1);
    expect(allocating).toBeGreaterThan(16);
  });

  test("every form is sampled in every round, synchronous and asynchronous ones alike", async () => {
    const comparison: NamedComparison = {
      name: "both",
      forms: { plain: (call) => call, waiting: async (call) => Promise.resolve(call) },
      options: { rounds: 3, sampleMs: 0.01, warmMs: 1, measureHeap: false },
    };
    const results = await measure(comparison);
    expect(results.map(({ name, samples }) => [name, samples.length])).toEqual([
      ["plain", 3],
      ["waiting", 3],
    ]);
    expect(results.every(({ ns }) => ns.median > 0)).toBe(true);
  });

  test("a form settles before each sample, with calls that are not counted", async () => {
    let last = 0;
    const options = { rounds: 3, sampleMs: 0.01, settleMs: 0.1, warmMs: 1, measureHeap: false };
    const [result] = await measure({ name: "settled", forms: { form: (call) => (last = call) }, options });
    expect(result!.samples).toHaveLength(3);
    // The numbers of calls go on after those of the calibration, with ten calls that settle for each one that is sampled.
    expect((last + 1) % (1 + 3 * 11)).toBe(0);
  });

  test("what a call uses up is made ready before it, each time and outside of the measured time", async () => {
    let ready = 0;
    let used = 0;
    const prepare = async (): Promise<void> => {
      expect(ready).toBe(used);
      ready++;
      await new Promise((resolve) => void setTimeout(resolve, 20));
    };
    const form = async (): Promise<void> => void used++;
    const comparison: NamedComparison = {
      name: "ready",
      forms: { form },
      prepare,
      options: { rounds: 3, sampleMs: 0.0001, warmMs: 0.0001, measureHeap: false },
    };
    const [result] = await measure(comparison);
    expect(used).toBe(ready);
    expect(result!.ns.median).toBeLessThan(1e7);
    await smoke(comparison);
    expect(used).toBe(ready);
  });

  test("a form runs until it gets no quicker, and one that never settles no longer than five times the least", async () => {
    // One that is warm at once, one that takes half as long just before the least time is over, and one that gets quicker forever.
    const form = (nsOfCall: (call: number) => number) => {
      const made = {
        next: 0,
        spentNs: 0,
        loop: (first: number, count: number) => {
          let ns = 0;
          for (let call = first; call < first + count; call++) ns += nsOfCall(call);
          made.spentNs += ns;
          return ns;
        },
      };
      return made;
    };
    const steady = form(() => 1e4);
    const late = form((call) => (call < 1900 ? 1e4 : 5e3));
    const restless = form((call) => 1e6 / (1 + call / 100));
    await warmUp([steady, late, restless], 2e7);
    expect(steady.spentNs).toBeGreaterThanOrEqual(2e7);
    expect(steady.spentNs).toBeLessThan(4e7);
    expect(late.spentNs).toBeGreaterThan(3e7);
    expect(restless.spentNs).toBeGreaterThan(9e7);
    expect(restless.spentNs).toBeLessThan(1.2e8);
  });

  test("forms are warmed up in turn, each call with a number of its own", async () => {
    const seen: string[] = [];
    const makeForm = (name: string) => ({
      next: 5,
      loop: (first: number, count: number) => {
        seen.push(`${name}${first}`);
        return count * 3e6;
      },
    });
    await warmUp([makeForm("a"), makeForm("b")], 6e6);
    expect(seen.slice(0, 4)).toEqual(["a5", "b5", "a6", "b6"]);
  });

  test("a smoke run calls every form and hands on its failure", async () => {
    let calls = 0;
    await smoke({ name: "counted", forms: { one: () => calls++, two: () => calls++ } });
    expect(calls).toBe(2);
    await expect(smoke({ name: "broken", forms: { one: () => Promise.reject(new Error("rotten")) } })).rejects.toThrow(
      "rotten",
    );
  });

  test("a bound on a form that is not there is refused when the file loads", () => {
    expect(() => compare("typo", { forms: { ours: () => 0 }, bounds: [{ form: "ors", heapBytesAtMost: 0 }] })).toThrow(
      '"ors"',
    );
  });
});

test("a quantile interpolates between neighbors", () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([7], 0.25)).toBe(7);
});

test("docs/performance.md is what docs/performance.json says", () => {
  const page = join(ROOT, "docs/performance.md");
  expect(existsSync(page) ? readFileSync(page, "utf8") : "").toBe(performancePage(readRecord()));
});

test("docs/charts has the picture of every recorded figure", () => {
  for (const [name, picture] of performancePictures(readRecord()))
    expect(readFileSync(join(ROOT, "docs/charts", name), "utf8"), name).toBe(picture);
});

describe("svgChart", () => {
  const chart: Chart = {
    kind: "lines",
    xLabel: "shards",
    yLabel: "cost",
    isLogX: true,
    x: [1000, 1_000_000],
    series: [{ name: "a < b", values: [1, 2] }],
    limit: { value: 2, label: "promised" },
  };

  test("has a title, labels, a legend and a tick for each power of ten, with text escaped", () => {
    const svg = svgChart("Growth", chart);
    for (const words of ["<title>Growth</title>", ">shards<", ">cost<", "a &lt; b", ">promised<", ">10 k<", ">1 M<"])
      expect(svg).toContain(words);
  });

  test("puts greater values higher, and leaves out what is missing", () => {
    const points = /points="([^"]*)"/
      .exec(svgChart("Growth", chart))![1]!
      .split(" ")
      .map((pair) => pair.split(","));
    expect(Number(points[1]![1])).toBeLessThan(Number(points[0]![1]));
    const gap = { ...chart, series: [{ name: "one", values: [null, 2] }] };
    expect(/points="([^"]*)"/.exec(svgChart("Growth", gap))![1]!.split(" ")).toHaveLength(1);
  });

  test("draws a bar for each value of each group", () => {
    const bars: Chart = { ...chart, kind: "bars", isLogY: true, x: ["one", "two"] };
    expect(svgChart("Bars", bars).match(/<rect /g)).toHaveLength(1 + 1 + 2);
  });
});
