// A plan that puts nearly everything into one part makes one worker do all the work. Keys are rarely spread over all
// bytes, so the survey is tried on the shapes that keys have.
import { describe, expect, test } from "vitest";
import { compareBytes } from "@gossip/stdx";
import { keyBytes } from "./key-text.ts";
import { evenPoints, surveyKeys, type SurveyedSpan, type TakeSample } from "./survey.ts";

const COUNT = 20_000;
const PARTS = 16;

const SHAPES: Readonly<Record<string, (index: number) => string>> = {
  "zero-padded numbers": (index) => `img-${String(index).padStart(9, "0")}.jpg`,
  "numbers of different lengths": (index) => `row/${index}`,
  "hexadecimal hashes": (index) => `${((index * 2_654_435_761) >>> 0).toString(16).padStart(8, "0")}/data`,
  "days with a sequence": (index) =>
    `logs/2024-${String(1 + (index % 12)).padStart(2, "0")}-${String(1 + (index % 28)).padStart(2, "0")}/${index}`,
  "one hot folder": (index) => (index % 20 === 0 ? `cold/${index}` : `hot/part/${String(index).padStart(6, "0")}`),
};

describe.each(Object.entries(SHAPES))("%s", (name, shape) => {
  const keys = Array.from({ length: COUNT }, (_, index) => keyBytes(shape(index))).sort(compareBytes);

  test("parts have at most a few times their share", async () => {
    const points = evenPoints(await survey(keys), PARTS);
    const bounds = [Uint8Array.of(0), ...points, Uint8Array.of(0xff)];
    const sizes = bounds.slice(1).map((end, index) => countBetween(keys, bounds[index]!, end));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(COUNT);
    // Before branches are counted they are taken as equal. Of 0 to 19999, more than half begin with a 1.
    const most = name === "numbers of different lengths" ? 6 : 3;
    expect(Math.max(...sizes)).toBeLessThan((most * COUNT) / PARTS);
  });
});

test.each(Object.entries(SHAPES))(
  "%s: a split leaves work on both sides, wherever the reading is",
  async (_, shape) => {
    const keys = Array.from({ length: COUNT }, (_each, index) => keyBytes(shape(index))).sort(compareBytes);
    for (const done of [0, 0.3, 0.6, 0.9, 0.98]) {
      const from = keys[Math.floor(done * COUNT)]!;
      const rest = keys.filter((key) => compareBytes(key, from) >= 0);
      const [point] = evenPoints(await survey(rest, 24), 2);
      const above = rest.filter((key) => compareBytes(key, point!) >= 0).length / rest.length;
      // In the worst case all of a small folder stays, and a large one is handed over.
      expect([above > 0.05, above < 0.96]).toEqual([true, true]);
    }
  },
);

test("spans are adjacent and cover the range", async () => {
  const spans = await survey(Array.from({ length: 500 }, (_, index) => keyBytes(`k${index}`)).sort(compareBytes));
  expect(spans[0]!.start).toEqual(Uint8Array.of(0));
  expect(spans.at(-1)!.end).toEqual(Uint8Array.of(0xff));
  for (const [index, { start, end }] of spans.entries()) {
    expect(compareBytes(start, end)).toBeLessThan(0);
    if (index > 0) expect(start).toEqual(spans[index - 1]!.end);
  }
});

test("no keys at all are no points", async () => {
  const empty = await survey([]);
  expect(empty).toEqual([expect.objectContaining({ items: 0, isExact: true })]);
  expect(evenPoints(empty, 4)).toEqual([]);
});

function survey(keys: readonly Uint8Array[], spanCount = 64): Promise<readonly SurveyedSpan[]> {
  const take: TakeSample = async ({ from, end }, limit) => {
    const first = keys.findIndex((key) => compareBytes(key, from) >= 0);
    const sample = first < 0 ? [] : keys.slice(first, first + limit).filter((key) => compareBytes(key, end) < 0);
    return { keys: sample, isAll: sample.length < limit };
  };
  return surveyKeys({ bounds: { from: Uint8Array.of(0), end: Uint8Array.of(0xff) }, spanCount, take });
}

function countBetween(keys: readonly Uint8Array[], start: Uint8Array, end: Uint8Array): number {
  return keys.filter((key) => compareBytes(key, start) >= 0 && compareBytes(key, end) < 0).length;
}
