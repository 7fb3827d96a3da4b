// Against a real server: what a listing does with odd keys, where it begins and ends, and what it does not do, cannot be
// known from the documentation alone.
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeSource } from "@gossip/worker/testing";
import { compareBytes, unwrap } from "@gossip/stdx";
import { radosGatewaySkipped, startRadosGateway, type RadosGateway } from "@gossip/tools/engines";
import { keyBytes } from "./listing/key-text.ts";
import { s3Source, type S3Source } from "./s3-source.ts";

const skipped = radosGatewaySkipped();

const ODD_KEYS = [
  "plain",
  "a b",
  "a+b",
  "a%2Bb",
  "a//b",
  "a/./b",
  "a/../b",
  "a/",
  "ends/ ",
  "quotes'\"",
  "<&>",
  "tab\tkey",
  "line\nkey",
  "\u0001control",
  "ünïcode",
  "漢字/かな",
  "emoji/🦊",
  "\ufffd",
  "\u{10ffff}",
  "long/".padEnd(900, "x"),
];

describe.skipIf(skipped !== undefined)("on a real server", () => {
  let server: RadosGateway;
  let odd: string;
  let many: string;
  const manyKeys = Array.from({ length: 3_000 }, (_, index) => `flat/${String(index * 7).padStart(6, "0")}`);

  beforeAll(async () => {
    server = await startRadosGateway();
    odd = await server.makeBucket(ODD_KEYS);
    many = await server.makeBucket([...manyKeys, "before", "later/one"]);
  }, 120_000);
  afterAll(() => server?.dispose());

  const source = (bucket: string, prefix = ""): S3Source =>
    s3Source({ bucket, prefix, endpoint: server.endpoint, credentials: server.credentials });

  describeSource("odd keys", () => ({ source: source(odd), keys: ODD_KEYS.map(keyBytes).sort(compareBytes) }), {
    describe,
    expect,
    test,
  });

  test("a flat prefix is planned into parts of similar size, without a delimiter", async () => {
    await using flat = source(many, "flat/");
    const shards = unwrap(await flat.plan({ shardCount: 8 }));
    expect(shards).toHaveLength(8);
    const sizes: number[] = [];
    for (const { keyRangeStart: start, keyRangeEnd: end } of shards)
      sizes.push((await namesIn(flat, { start, end })).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(manyKeys.length);
    for (const size of sizes) expect(size).toBeLessThan((manyKeys.length / 8) * 2);
  });

  test("a range is split where half of its objects are left", async () => {
    await using flat = source(many, "flat/");
    const range = { start: keyBytes("flat/"), end: keyBytes("flat0") };
    for (const at of [0, 1_000, 2_500]) {
      const point = (await flat.splitPoint!({ range, after: keyBytes(manyKeys[at]!), samples: [] }))!;
      const above = manyKeys.filter((key) => compareBytes(keyBytes(key), point) >= 0).length;
      expect(above / (manyKeys.length - at)).toBeGreaterThan(0.2);
      expect(above / (manyKeys.length - at)).toBeLessThan(0.8);
    }
    // What is left fits into a sample, which the worker reads as fast as it could be searched.
    const after = keyBytes(manyKeys.at(-5)!);
    expect(await flat.splitPoint!({ range, after, samples: [] })).toBe(undefined);
  });

  test("what is estimated was counted", async () => {
    await using flat = source(many, "flat/");
    for await (const { spans, isExact } of flat.estimate!({ signal: new AbortController().signal })) {
      expect(isExact).toBe(true);
      for (const { start, end, items } of spans) expect((await namesIn(flat, { start, end })).length).toBe(items);
      expect(spans.length).toBeGreaterThan(0);
    }
  });

  test("objects have a size, a tag, a date, a URL and content", async () => {
    await using objects = source(odd, "a/../");
    const [item] = await itemsOf(objects);
    expect(item).toMatchObject({
      name: "a/../b",
      url: `s3://${odd}/a/../b`,
      size: 6,
      etag: expect.stringMatching(/^\w{32}$/),
    });
    expect(item!.modified!.getTime()).not.toBeNaN();
    expect(await text(await item!.read())).toBe("a/../b");
  });

  test("an object that was deleted after it was listed cannot be read", async () => {
    const bucket = await server.makeBucket(["gone"]);
    await using objects = source(bucket);
    const [item] = await itemsOf(objects);
    await server.deleteObject(bucket, "gone");
    await expect(item!.read()).rejects.toMatchObject({ kind: "SourceMissing" });
  });

  test("an object that is added above what was listed is an item", async () => {
    const bucket = await server.makeBucket(["b"]);
    await using objects = source(bucket);
    await server.putObjects(bucket, ["a", "c"]);
    const after = keyBytes("b");
    expect(await namesIn(objects, { start: Uint8Array.of(0), end: Uint8Array.of(0xff) }, after)).toEqual(["c"]);
  });

  test.each([
    ["a bucket that does not exist", "SourceMissing", (): S3Source => source("no-such-bucket")],
    [
      "a wrong secret",
      "SourceUnreadable",
      (): S3Source => {
        const credentials = { ...server.credentials, secretAccessKey: "wrong" };
        return s3Source({ bucket: odd, endpoint: server.endpoint, credentials });
      },
    ],
    [
      "no credentials",
      "SourceUnreadable",
      (): S3Source => s3Source({ bucket: odd, endpoint: server.endpoint, credentials: "None" }),
    ],
  ])("%s is %s", async (_, kind, open) => {
    await using objects = open();
    const planned = await objects.plan({ shardCount: 2 });
    expect(planned).toMatchObject({ ok: false, error: { kind } });
    expect(JSON.stringify(planned)).not.toContain("secret-of");
  });
});

async function itemsOf(source: S3Source, after?: Uint8Array) {
  const items = [];
  const range = { start: Uint8Array.of(0), end: Uint8Array.of(0xff) };
  for await (const batch of source.read({ range, after, signal: new AbortController().signal }))
    items.push(...batch.items);
  return items;
}

async function namesIn(
  source: S3Source,
  range: { readonly start: Uint8Array; readonly end: Uint8Array },
  after?: Uint8Array,
): Promise<string[]> {
  const names: string[] = [];
  for await (const batch of source.read({ range, after, signal: new AbortController().signal }))
    names.push(...batch.items.map(({ name }) => name));
  return names;
}
