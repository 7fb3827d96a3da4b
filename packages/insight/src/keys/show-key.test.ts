// A key that is shown in the form of another source misleads the operator, and `split --at` would cut at another key.
import { encodeTuple } from "@gossip/frontier";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseKeyText } from "./key-text.ts";
import { keyCodecOf, showKey } from "./show-key.ts";

describe("showKey", () => {
  test.each([
    ["fs:/data", "sixteen-bytes-xx", "sixteen-bytes-xx"],
    ["fs:/data", "a/b", "a/b"],
    ["fs:/data", "row:7/1", "path:row:7/1"],
    ["lines:/rows", Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 90), "row:0/90"],
    ["lines:/rows", "a/b", "hex:612f62"],
    ["postgres:db/shop#public.orders", unwrap(encodeTuple(["eu", 42n])), 'tuple:["eu",42]'],
    [undefined, "sixteen-bytes-xx", "hex:7369787465656e2d62797465732d7878"],
    ["toString:x", "a", "hex:61"],
  ])("a key of %s: %s", (source, key, shown) => {
    const bytes = typeof key === "string" ? Buffer.from(key) : key;
    expect(showKey(bytes, keyCodecOf(source))).toBe(shown);
  });

  test("no key is shown as nothing", () => {
    expect([showKey(undefined, "path"), showKey(new Uint8Array(0), "row")]).toEqual(["", ""]);
  });

  test("a shown key without a backslash is read as the same key again", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.stringMatching(/^[ -[\]-~]{1,20}$/)),
        fc.constantFrom("path", "row", undefined),
        (key, codec) => {
          const bytes = Buffer.from(key as Uint8Array);
          const shown = showKey(bytes, codec);
          if (shown.includes("\\")) return;
          expect(Buffer.from(unwrap(parseKeyText(shown))).toString("hex")).toBe(bytes.toString("hex"));
        },
      ),
    );
  });
});
