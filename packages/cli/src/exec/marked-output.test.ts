// Output that is cut at the wrong byte ends up in another item's result. Chunks come as the system likes, so every way to
// cut a stream must give the same.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MarkedOutput } from "./marked-output.ts";

const MARKER = "aab";

/** Bytes of a marker's own letters, so that false beginnings are everywhere, without the marker itself. */
const output = fc
  .stringMatching(/^[ab\n]{0,12}$/)
  .filter((text) => !text.includes(MARKER) && !`${text}${MARKER}`.slice(0, -1).includes(MARKER));

describe("MarkedOutput", () => {
  test("gives each item its own bytes, however the stream is cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(output, fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
        (items, sizes) => {
          const marked = new MarkedOutput({ marker: MARKER, maxSize: 1000 });
          const got: [string, number][] = [];
          for (const [text, status] of items) {
            // An item's marker is answered before the next item begins: chunks never span two.
            const stream = Buffer.from(`${text}${MARKER} ${status}\n`);
            let ended: string | undefined;
            for (let at = 0; at < stream.length;) {
              const size = sizes.next().value;
              ended = marked.push(stream.subarray(at, at + size)) ?? ended;
              at += size;
            }
            got.push([marked.take().bytes.toString(), Number(ended)]);
          }
          expect(got).toEqual(items);
        },
      ),
    );
  });

  test("keeps no more than it may, counts the rest, and still finds the end", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 60 }), (maxSize, size) => {
        const marked = new MarkedOutput({ marker: MARKER, maxSize });
        let ended: string | undefined;
        for (const byte of Buffer.from(`${"x".repeat(size)}${MARKER} 0\n`))
          ended = marked.push(Buffer.of(byte)) ?? ended;
        const { bytes, droppedSize } = marked.take();
        expect([ended, bytes.length, droppedSize]).toEqual([
          " 0",
          Math.min(size, maxSize),
          Math.max(0, size - maxSize),
        ]);
      }),
    );
  });
});
