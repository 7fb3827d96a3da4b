// Bytes travel as this text in JSON. Text that means two byte strings, or a byte string with two texts, would make two
// equal records differ.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase64Url, encodeBase64Url } from "./base64url.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

describe("base64url", () => {
  test("is what Node writes, and reads back", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = encodeBase64Url(bytes);
        expect(text).toBe(Buffer.from(bytes).toString("base64url"));
        expect(decodeBase64Url(text)).toEqual(bytes);
      }),
    );
  });

  test("reads exactly the texts that it writes", () => {
    const text = fc.string({ unit: fc.constantFrom(...Array.from(ALPHABET), "=", "+", "/", " ", "é"), maxLength: 9 });
    fc.assert(
      fc.property(text, (candidate) => {
        const bytes = decodeBase64Url(candidate);
        if (bytes !== undefined) expect(encodeBase64Url(bytes)).toBe(candidate);
      }),
      { numRuns: 1000 },
    );
  });

  test.each(["A", "AAAAA", "AB", "AAB", "AA==", "A+AA", "A/AA", "AA A", "AA\n", "ÀA"])("does not read %j", (text) => {
    expect(decodeBase64Url(text)).toBe(undefined);
  });
});
