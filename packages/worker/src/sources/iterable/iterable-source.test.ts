// An iterable is the user's code: an item out of order would be skipped forever by a cursor that has passed it, so it is
// not believed but checked.

import { InvariantViolation, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { describeSource } from "../../testing/index.ts";
import { MODEL_KEYS } from "../../testing/conformance/model-source.fixture.ts";
import { iterableSource, type IterableOptions } from "./iterable-source.ts";

const NONE = new Uint8Array(0);
const EVERYTHING = { start: NONE, end: NONE };
const keyOf = (key: Uint8Array) => key;
const many = Array.from({ length: 1200 }, (_, index) => Buffer.from(String(index).padStart(6, "0")));

describeSource(
  "an array",
  () => ({ source: iterableSource({ name: "array", items: MODEL_KEYS, keyOf }), keys: MODEL_KEYS }),
  { describe, expect, test },
);
describeSource("a long array", () => ({ source: iterableSource({ name: "array", items: many, keyOf }), keys: many }), {
  describe,
  expect,
  test,
});

let open = 0;

/** Seeks, and holds something open. */
async function* seeking({
  from,
  end,
}: {
  readonly from: Uint8Array;
  readonly end: Uint8Array;
}): AsyncGenerator<Uint8Array> {
  open++;
  try {
    for (const key of MODEL_KEYS) {
      await Promise.resolve();
      if (Buffer.compare(key, from) >= 0 && (end.length === 0 || Buffer.compare(key, end) < 0)) yield key;
    }
  } finally {
    open--;
  }
}

describeSource(
  "an async iterable",
  () => ({
    source: iterableSource({ name: "async", read: seeking, keyOf }),
    keys: MODEL_KEYS,
    openHandleCount: () => open,
  }),
  {
    describe,
    expect,
    test,
  },
);

async function read(options: Partial<IterableOptions<Uint8Array>>): Promise<readonly Uint8Array[]> {
  const keys: Uint8Array[] = [];
  const source = iterableSource({ name: "mine", keyOf, ...options });
  for await (const { items } of source.read({ range: EVERYTHING, signal: new AbortController().signal }))
    keys.push(...items.map(({ value }) => value));
  return keys;
}

const bytes = (...values: readonly number[]) => Uint8Array.from(values);

describe("an iterable that cannot be relied on", () => {
  test.each([
    { what: "gives keys that descend", items: [bytes(2), bytes(1)], reason: "mine gave keys that do not ascend" },
    { what: "gives a key twice", items: [bytes(2), bytes(2)], reason: "mine gave keys that do not ascend" },
    { what: "gives an empty key", items: [NONE], reason: "mine gave a key that is not 1 to 4096 bytes" },
    {
      what: "gives a key that is too long",
      items: [new Uint8Array(4097)],
      reason: "mine gave a key that is not 1 to 4096 bytes",
    },
    { what: "gives text for a key", items: ["a" as never], reason: "mine gave a key that is not 1 to 4096 bytes" },
    {
      what: "gives a key above its range",
      items: [new Uint8Array(17).fill(0xff)],
      reason: "mine gave a key outside of its range",
    },
    {
      what: "gives a key below its range",
      items: [bytes(1)],
      range: { start: bytes(2), end: bytes(3) },
      reason: "mine gave a key outside of its range",
    },
  ])("is found out: it $what", async ({ items, reason, range }) => {
    const options = { items, ...(range === undefined ? {} : { range }) };
    await expect(read(options)).rejects.toMatchObject({ name: "SourceReadFailed", message: reason });
    const plan = await iterableSource({ name: "mine", keyOf, ...options }).plan({ shardCount: 2 });
    expect(plan).toEqual({ ok: false, error: { kind: "SourceInvalid", reason } });
  });

  test("its own failure goes through as it is", async () => {
    const failure = new Error("no more");
    await expect(
      read({
        read: () => {
          throw failure;
        },
      }),
    ).rejects.toBe(failure);
  });

  test.each([
    undefined,
    { name: "x", keyOf },
    { name: "", keyOf, items: [] },
    { name: "x", items: [] },
    { name: "x", keyOf, items: [], read: () => [] },
    { name: "x", keyOf, items: 7 },
    { name: "x", keyOf, items: [][Symbol.iterator]() },
    { name: "x", keyOf, items: [], range: { start: NONE, end: bytes(1) } },
  ])("options %# are refused with a sentence", (options) => {
    expect(() => iterableSource(options as never)).toThrow(InvariantViolation);
  });
});

describe("planning an iterable", () => {
  test("cuts by the keys where there are few", async () => {
    const specs = unwrap(await iterableSource({ name: "x", items: many, keyOf }).plan({ shardCount: 4 }));
    expect(specs.slice(1).map(({ keyRangeStart }) => Buffer.from(keyRangeStart).toString())).toEqual([
      "000300",
      "000600",
      "000900",
    ]);
  });

  test("looks at no more than it needs of one without an end", async () => {
    let given = 0;
    function* endless(): Generator<Uint8Array> {
      for (;;) {
        const key = Buffer.alloc(8);
        key.writeBigUInt64BE(BigInt(given++));
        yield key;
      }
    }
    const range = { start: bytes(0), end: bytes(1) };
    const specs = unwrap(await iterableSource({ name: "x", read: endless, keyOf, range }).plan({ shardCount: 4 }));
    expect(specs.length).toBe(4);
    expect(given).toBeLessThan(11_000);
  });
});
