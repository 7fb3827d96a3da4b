// Two texts for one prefix would be one scope under two names.
import fc from "fast-check";
import { expect, test } from "vitest";
import { fromBase64Url, toBase64Url } from "./base64url.ts";

test("bytes have one text, and only that text stands for them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
      const text = toBase64Url(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64url"));
      expect(fromBase64Url(text)).toEqual(bytes);
    }),
  );
  fc.assert(
    fc.property(fc.string({ maxLength: 6 }), (text) => {
      const bytes = fromBase64Url(text);
      if (bytes !== undefined) expect(toBase64Url(bytes)).toBe(text);
    }),
  );
  // Padding, the other alphabet, a length that no bytes have, and bits beyond the last byte.
  for (const text of ["YQ==", "+/", "A", "YR", " "]) expect(fromBase64Url(text)).toBeUndefined();
});
