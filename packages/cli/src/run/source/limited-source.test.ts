// The shards of a limited source must hold the first items and no others: one shard that ends too late does work that the
// user excluded, perhaps on production data.
import { compareBytes, unwrap } from "@gossip/stdx";
import { iterableSource, type Source, type WorkSpan } from "@gossip/worker";
import fc from "fast-check";
import { expect, test } from "vitest";
import { limitedSource } from "./limited-source.ts";

function limited(keys: readonly Uint8Array[], limit: number): Source {
  return limitedSource(iterableSource({ name: "keys", items: keys, keyOf: (key) => key }), limit);
}

async function spansOf(source: Source): Promise<readonly WorkSpan[]> {
  let found: readonly WorkSpan[] = [];
  for await (const { spans } of source.estimate!({ signal: new AbortController().signal })) found = spans;
  return found;
}

test("the shards hold exactly the first items, and so does the estimate", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.uint8Array({ minLength: 1, maxLength: 3 }), {
        selector: (key) => Buffer.from(key).toString("hex"),
        maxLength: 20,
      }),
      fc.integer({ min: 1, max: 25 }),
      fc.integer({ min: 1, max: 8 }),
      async (keys, limit, shardCount) => {
        const sorted = keys.toSorted(compareBytes);
        const source = limited(sorted, limit);
        const shards = unwrap(await source.plan({ shardCount }));
        expect(shards.length).toBeLessThanOrEqual(shardCount);
        const read: string[] = [];
        for (const { keyRangeStart: start, keyRangeEnd: end } of shards)
          for await (const { items } of source.read({ range: { start, end }, signal: new AbortController().signal }))
            read.push(...items.map(({ key }) => Buffer.from(key).toString("hex")));
        expect(read).toEqual(sorted.slice(0, limit).map((key) => Buffer.from(key).toString("hex")));
        // The process that planned has counted; another one counts again.
        const bounds = [shards[0]!.keyRangeStart, shards.at(-1)!.keyRangeEnd];
        for (const each of [source, limited(sorted, limit)]) {
          const spans = await spansOf(each);
          expect(spans.reduce((sum, { items }) => sum + items, 0)).toBe(read.length);
          expect([spans[0]!.start, spans.at(-1)!.end]).toEqual(bounds);
        }
      },
    ),
  );
});
