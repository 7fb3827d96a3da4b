// The text of a line goes to a process and into the results. Bytes that are no text must arrive as they are, and a text that
// contains the replacement character is still a text.
import { isUtf8 } from "node:buffer";
import type { LineItem } from "@gossip/worker";
import fc from "fast-check";
import { expect, test } from "vitest";
import { lineFields } from "./line-fields.ts";

const itemOf = (bytes: Buffer): LineItem => ({ offset: 7, bytes, line: bytes.toString("utf8") }) as unknown as LineItem;

test("a line has its text exactly when its bytes are UTF-8, and its bytes in base64url otherwise", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 8 }),
    fc.string({ unit: fc.constantFrom("a", "é", "\ufffd", "😀"), maxLength: 4 }).map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(bytes, (given) => {
      const buffer = Buffer.from(given);
      const expected = isUtf8(buffer)
        ? { offset: 7, line: buffer.toString("utf8") }
        : { offset: 7, line64: buffer.toString("base64url") };
      expect(lineFields(itemOf(buffer))).toEqual(expected);
    }),
  );
});

test("the replacement character itself is text", () => {
  expect(lineFields(itemOf(Buffer.from("\ufffd")))).toEqual({ offset: 7, line: "\ufffd" });
  expect(lineFields(itemOf(Buffer.from([0x61, 0xff])))).toEqual({ offset: 7, line64: "Yf8" });
});
