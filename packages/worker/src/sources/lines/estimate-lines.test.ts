// Bytes are not lines. A manifest whose first lines are a hundred times longer than the rest must not look half done
// when only a few of its lines are.
import { open } from "node:fs/promises";
import { expect, test } from "vitest";
import type { WorkEstimate } from "../work-estimate.ts";
import { estimateLines } from "./estimate-lines.ts";
import { lineKey, manifestPrefix, offsetAtOrAbove } from "./line-offsets.ts";
import { linesSource } from "./lines-source.ts";
import { makeFile } from "./temporary-file.fixture.ts";

const PREFIX = manifestPrefix(0n);
const { signal } = new AbortController();

async function estimatesOf(content: string, sampleSize?: number): Promise<WorkEstimate[]> {
  const file = makeFile(content);
  const handle = await open(file.path);
  const estimates: WorkEstimate[] = [];
  try {
    const size = Buffer.byteLength(content);
    const request = { handle, prefix: PREFIX, size, signal, ...(sampleSize === undefined ? {} : { sampleSize }) };
    for await (const estimate of estimateLines(request)) estimates.push(estimate);
  } finally {
    await handle.close();
    file.dispose();
  }
  return estimates;
}

const total = ({ spans }: WorkEstimate): number => spans.reduce((sum, { items }) => sum + items, 0);

test("a small file is counted exactly, with or without a newline at its end", async () => {
  for (const [content, count] of [
    ["", 0],
    ["one", 1],
    ["one\n", 1],
    ["one\ntwo", 2],
    [`${"x\n".repeat(5000)}end`, 5001],
  ] as const)
    expect(total((await estimatesOf(content)).at(-1)!)).toBeCloseTo(count);
});

test("a large file is estimated from samples, and long lines at its head do not mislead", async () => {
  const head = `${"h".repeat(999)}\n`.repeat(1000);
  const tail = `${"t".repeat(9)}\n`.repeat(100_000);
  const last = (await estimatesOf(head + tail, 4096)).at(-1)!;
  expect(total(last) / 101_000).toBeGreaterThan(0.97);
  expect(total(last) / 101_000).toBeLessThan(1.03);
  const inHead = last.spans.filter(({ end }) => offsetAtOrAbove(PREFIX, end) <= head.length);
  expect(total({ spans: inHead })).toBeLessThan(1100);
});

test("the first estimate covers the whole file, and finer ones replace it", async () => {
  const estimates = await estimatesOf("line\n".repeat(200_000), 1024);
  expect(estimates[0]!.spans.length).toBe(32);
  expect(estimates.at(-1)!.spans.length).toBe(512);
  for (const { spans } of estimates) {
    expect(spans[0]!.start).toEqual(lineKey(PREFIX, 0));
    expect(spans.at(-1)!.end).toEqual(lineKey(PREFIX, 1_000_000));
  }
});

test("a source estimates the lines of its file", async () => {
  const file = makeFile("a\nb\nc\n");
  const estimates: WorkEstimate[] = [];
  for await (const estimate of linesSource({ path: file.path }).estimate!({ signal })) estimates.push(estimate);
  file.dispose();
  expect(total(estimates.at(-1)!)).toBeCloseTo(3);
});
