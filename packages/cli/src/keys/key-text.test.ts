// Operators split shards at keys that they type. A key that is misread splits a shard in the wrong place.
import { encodeTuple } from "@gossip/frontier";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeKey, KEY_FORMS, parseKey } from "./key-text.ts";

const hexOf = (text: string): string => Buffer.from(unwrap(parseKey(text))).toString("hex");

describe("parseKey", () => {
  test.each([
    ["path:logs/", "6c6f67732f"],
    ["logs/", "6c6f67732f"],
    ["path:hex:00", "6865783a3030"],
    ["hex:00FF", "00ff"],
    ["b64:AP8", "00ff"],
    ["row:7/100", "00000000000000070000000000000064"],
    ["row:18446744073709551615/0", "ffffffffffffffff0000000000000000"],
  ])("%s", (text, hex) => {
    expect(hexOf(text)).toBe(hex);
  });

  test("a number in a tuple is an integer unless it is written with a point", () => {
    const parts = ["eu", 42n, -7n, 1.5, 2, true, null, ["a", 1n]];
    expect(hexOf('tuple:["eu",42,-7,1.5,2.0,true,null,["a",1]]')).toBe(
      Buffer.from(unwrap(encodeTuple(parts))).toString("hex"),
    );
    expect(hexOf('tuple:["1, 2","\\"3"]')).toBe(Buffer.from(unwrap(encodeTuple(["1, 2", '"3']))).toString("hex"));
    expect(hexOf('tuple:["i7","s","","-1"]')).toBe(
      Buffer.from(unwrap(encodeTuple(["i7", "s", "", "-1"]))).toString("hex"),
    );
    expect(hexOf("tuple:[-0, 0 ]")).toBe(Buffer.from(unwrap(encodeTuple([0n, 0n]))).toString("hex"));
    expect(hexOf("tuple:[1e3]")).toBe(Buffer.from(unwrap(encodeTuple([1000]))).toString("hex"));
  });

  test.each([
    "",
    "path:",
    "hex:0",
    "hex:zz",
    "b64:!",
    "row:7",
    "row:-1/2",
    "row:99999999999999999999/1",
    "tuple:",
    "tuple:{}",
    "tuple:[{}]",
    'tuple:["a"',
    "tuple:[1.2.3]",
    'tuple:[{"integer":"1#"}]',
    'tuple:[{"integer":"1"}]',
    'tuple:[{"integer":""}]',
    "tuple:[0x10]",
    "tuple:[007]",
    "tuple:[+7]",
    "tuple:[1_000]",
    "tuple:[1e400]",
    "tuple:[NaN]",
    "tuple:[1,]",
    `tuple:${"[".repeat(60_000)}${"]".repeat(60_000)}`,
    `tuple:${"[".repeat(500)}${"]".repeat(500)}`,
    `tuple:[${"9".repeat(100)}]`,
    'tuple:["\\ud800"]',
    "b64:A",
    "b64:AP9",
    "b64:AP8=",
    "row:0x7/1",
    "row: 7/1",
    "row:7/",
  ])("%j is refused with a sentence", (text) => {
    expect(parseKey(text)).toMatchObject({
      ok: false,
      error: { kind: "BadCommandLine", message: expect.stringMatching(/\.$/) as string },
    });
  });

  test("every form has an example that can be read", () => {
    for (const { example } of Object.values(KEY_FORMS)) expect(parseKey(example).ok).toBe(true);
  });
});

test("what is shown of a key can be read again, and gives the same key", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (key) => {
      expect(hexOf(`hex:${decodeKey(key).hex}`)).toBe(Buffer.from(key).toString("hex"));
    }),
  );
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.stringMatching(/^[ -~]{0,8}$/),
          fc.boolean(),
          fc.constant(null),
        ),
        { minLength: 1, maxLength: 4 },
      ),
      (parts) => {
        const key = unwrap(encodeTuple(parts));
        const { tuple } = decodeKey(key);
        expect(hexOf(tuple!)).toBe(Buffer.from(key).toString("hex"));
      },
    ),
  );
});
