// A reading that is begun anew at the wrong key reads something twice or never; one that is not stopped where the shard was cut works on another's items.

import { describe, expect, test } from "vitest";
import type { ItemBatch, Source } from "../sources/source.ts";
import { ManualTime } from "../time/manual-time.fixture.ts";
import { RetryAfter } from "./retry-after.ts";
import { Outage } from "./outage.ts";
import { ShardReader } from "./shard-reader.ts";
import { keyOf, numberedSource, type NumberedItem } from "./world.fixture.ts";

const RANGE = { start: Uint8Array.of(0x6b), end: Uint8Array.of(0x6c) };

function makeReader(
  source: Source<NumberedItem>,
  { signal = new AbortController().signal, after }: { readonly signal?: AbortSignal; readonly after?: Uint8Array } = {},
) {
  const time = new ManualTime();
  const failures: number[] = [];
  const retry = { maxAttempts: 3, baseMs: 10, factor: 2, maxMs: 100, jitter: 0.5 };
  const reader = new ShardReader({
    source,
    range: RANGE,
    after,
    signal,
    retry,
    patienceMs: 60_000,
    classifyFailure: undefined,
    outage: new Outage(time, { onStart: () => undefined, onEnd: () => undefined }),
    time,
    hold: () => undefined,
    onFailure: ({ attempt }) => failures.push(attempt),
  });
  return { reader, time, failures };
}

async function readAll(reader: ShardReader<NumberedItem>): Promise<(number | string)[]> {
  const seen: (number | string)[] = [];
  for (;;) {
    const next = await reader.next();
    if (next.kind === "End") return seen;
    if (next.kind === "ReadFailure") return [...seen, "failed"];
    seen.push(...next.batch.items.map(({ n }) => n));
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe("ShardReader", () => {
  test("gives all items behind the cursor, and the end once and again", async () => {
    const { reader } = makeReader(numberedSource(20), { after: keyOf(4) });
    expect(await readAll(reader)).toEqual(upTo(20).slice(5));
    expect(await reader.next()).toEqual({ kind: "End" });
  });

  test("goes on behind the last key where reading failed, with as many attempts each time", async () => {
    let calls = 0;
    const between = async (): Promise<void> => {
      if (++calls % 3 !== 0) throw new Error("gone");
    };
    const { reader, time, failures } = makeReader(numberedSource(20, { between }));
    expect(await time.runUntil(readAll(reader))).toEqual(upTo(20));
    expect(failures).toEqual([1, 2, 1, 2, 1, 2]);
  });

  test("gives up after the last attempt", async () => {
    const { reader, time, failures } = makeReader(
      numberedSource(20, { between: (from) => (from > 0 ? Promise.reject(new Error("gone")) : Promise.resolve()) }),
    );
    expect(await time.runUntil(readAll(reader))).toEqual([...upTo(7), "failed"]);
    expect(failures).toEqual([1, 2, 3]);
  });

  test.each([
    { retryAfterMs: 60, atLeastMs: 60 },
    { retryAfterMs: 1000, atLeastMs: 100 },
  ])(
    "a source that asks for $retryAfterMs ms is not asked again for $atLeastMs",
    async ({ retryAfterMs, atLeastMs }) => {
      const askedMs: number[] = [];
      const between = async (): Promise<void> => {
        askedMs.push(time.nowMs());
        if (askedMs.length === 1) throw new RetryAfter(retryAfterMs);
      };
      const { reader, time } = makeReader(numberedSource(7, { between }));
      expect(await time.runUntil(readAll(reader))).toEqual(upTo(7));
      expect(askedMs[1]).toBeGreaterThanOrEqual(atLeastMs);
      expect(askedMs[1]).toBeLessThanOrEqual(100);
    },
  );

  test.each([0, 3, 7, 9, 14, 19])("reads nothing from where the shard was cut, at %i", async (cut) => {
    const { reader } = makeReader(numberedSource(20));
    const first = await reader.next();
    expect(first).toMatchObject({ batch: { items: upTo(7).map((n) => ({ n })) } });
    reader.narrow(keyOf(Math.max(cut, 7)));
    expect(await readAll(reader)).toEqual(upTo(Math.max(cut, 7)).slice(7));
  });

  test("tells what is ahead, and when that is all", async () => {
    const { reader, time } = makeReader(numberedSource(10));
    await reader.next();
    await time.yieldToLoop();
    expect([reader.ahead.map(({ n }) => n), reader.isEndKnown]).toEqual([[7, 8, 9], false]);
    await reader.next();
    await time.yieldToLoop();
    expect([reader.ahead, reader.isEndKnown]).toEqual([[], true]);
  });

  test("closes the source's iterator when it is closed, and when the shard ends below what was read", async () => {
    let closed = 0;
    const source: Source<NumberedItem> = {
      ...numberedSource(0),
      async *read(): AsyncGenerator<ItemBatch<NumberedItem>> {
        try {
          for (let n = 0; ; n++) yield { items: [{ n, key: keyOf(n) }] };
        } finally {
          closed++;
        }
      },
    };
    const one = makeReader(source);
    await one.reader.next();
    await one.time.yieldToLoop();
    one.reader.close();
    await one.time.yieldToLoop();
    expect(closed).toBe(1);

    const other = makeReader(source);
    await other.reader.next();
    await other.time.yieldToLoop();
    other.reader.narrow(keyOf(1));
    expect(await other.reader.next()).toEqual({ kind: "End" });
    await other.time.yieldToLoop();
    expect(closed).toBe(2);
  });

  test.each([
    ["keys that repeat", [keyOf(1), keyOf(1)]],
    ["keys that go back", [keyOf(2), keyOf(1)]],
    ["a key below the range", [Uint8Array.of(1)]],
    ["an empty key", [new Uint8Array()]],
    ["a key that is too large", [new Uint8Array(5000).fill(0x6b)]],
  ])("does not believe a source that gives %s, nor reads again", async (_what, keys) => {
    const source: Source<NumberedItem> = {
      ...numberedSource(0),
      async *read() {
        yield { items: keys.map((key) => ({ n: 0, key })) };
      },
    };
    const { reader, failures } = makeReader(source);
    expect(await readAll(reader)).toEqual(["failed"]);
    expect(failures).toEqual([1]);
  });

  test("ends as soon as the signal fires, also while it waits to try again", async () => {
    const controller = new AbortController();
    const { reader, time } = makeReader(numberedSource(20, { between: () => Promise.reject(new Error("gone")) }), {
      signal: controller.signal,
    });
    const reading = readAll(reader);
    await time.yieldToLoop();
    controller.abort();
    expect(await reading).toEqual([]);
  });
});
