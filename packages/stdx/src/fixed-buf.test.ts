// One buffer serves many shards, one after another: what shows of the last one in the next is a leak from
// one tenant to another. And bytes cut off at the capacity would be another key.

import { inspect } from "node:util";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { InvariantViolation } from "./assert.ts";
import { FixedBuf } from "./fixed-buf.ts";

const bytes = fc.uint8Array({ maxLength: 12 });

describe("FixedBuf", () => {
  test("reads as what was written last, or as nothing after a reset", () => {
    fc.assert(
      fc.property(fc.nat(8), fc.array(fc.option(bytes), { maxLength: 8 }), (capacity, steps) => {
        const buf = new FixedBuf(capacity);
        let content = new Uint8Array(0);
        for (const step of steps) {
          if (step === null) buf.reset();
          else expect(buf.tryWrite(step)).toBe(step.length <= capacity);
          if (step === null || step.length <= capacity)
            content = step === null ? new Uint8Array(0) : Uint8Array.from(step);
          expect(buf.read()).toEqual(content);
          expect(buf.length).toBe(content.length);
          expect(buf.hasData).toBe(content.length > 0);
        }
        expect(buf.capacity).toBe(capacity);
      }),
    );
  });

  test("copies what is written, and may be given its own bytes", () => {
    const source = Uint8Array.of(1, 2, 3);
    const buf = FixedBuf.fromSlice(source, 4, "key too long");
    source.fill(9);
    expect(buf.read()).toEqual(Uint8Array.of(1, 2, 3));
    buf.write(buf.read().subarray(1), "key too long");
    expect(buf.read()).toEqual(Uint8Array.of(2, 3));
  });

  test("can be written in place", () => {
    const buf = new FixedBuf(4);
    buf.bytes.set([7, 8]);
    expect(buf.hasData).toBe(false);
    buf.commit(2);
    expect(buf.read()).toEqual(Uint8Array.of(7, 8));
    expect(() => buf.commit(5)).toThrow(new InvariantViolation("length must be a whole number from 0 to 4, got 5"));
    expect(buf.length).toBe(2);
  });

  test("refuses what does not fit, with both sizes and no bytes, and keeps what it had", () => {
    const buf = FixedBuf.fromSlice(Uint8Array.of(1), 2, "key too long");
    const tooLong = Uint8Array.of(5, 6, 7);
    expect(() => buf.write(tooLong, "key too long")).toThrow(
      new InvariantViolation("key too long: 3 bytes, room for 2"),
    );
    expect(() => FixedBuf.fromSlice(tooLong, 2, "key too long")).toThrow(InvariantViolation);
    expect(buf.read()).toEqual(Uint8Array.of(1));
  });

  test("a clone is equal, and changes apart", () => {
    fc.assert(
      fc.property(bytes, bytes, (first, second) => {
        const buf = FixedBuf.fromSlice(first, 12, "");
        const clone = buf.clone();
        expect(clone.equals(buf)).toBe(true);
        expect(clone.capacity).toBe(12);
        clone.write(second, "");
        expect(buf.read()).toEqual(first);
        expect(clone.equals(buf)).toBe(Buffer.compare(first, second) === 0);
      }),
    );
  });

  test("equality is of what is written, not of the capacity or of what was there before", () => {
    const reused = FixedBuf.fromSlice(Uint8Array.of(9, 9, 9), 8, "");
    reused.write(Uint8Array.of(1), "");
    expect(reused.equals(FixedBuf.fromSlice(Uint8Array.of(1), 2, ""))).toBe(true);
  });

  test.each([
    { content: [], shown: "FixedBuf(0 of 16: )" },
    { content: [0, 0xab], shown: "FixedBuf(2 of 16: 00ab)" },
    { content: [1, 2, 3, 4, 5, 6, 7, 8], shown: "FixedBuf(8 of 16: 0102030405060708)" },
    { content: [1, 2, 3, 4, 5, 6, 7, 8, 9], shown: "FixedBuf(9 of 16: 0102030405060708…)" },
  ])("prints as $shown", ({ content, shown }) => {
    const buf = FixedBuf.fromSlice(Uint8Array.from(content), 16, "");
    expect(inspect(buf)).toBe(shown);
    expect(JSON.stringify(buf)).toBe("{}");
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 32, "4", undefined])("capacity %s is refused", (capacity) => {
    expect(() => new FixedBuf(capacity as number)).toThrow(
      /^capacity must be a whole number from 0 to 4294967295, got /u,
    );
  });

  test.each([undefined, null, "secret", [1], new Uint16Array(1)])("%o is not bytes", (value) => {
    const buf = new FixedBuf(8);
    for (const call of [
      () => buf.write(value as never, "too long"),
      () => buf.tryWrite(value as never),
      () => FixedBuf.fromSlice(value as never, 8, "too long"),
    ]) {
      expect(call).toThrow(/^bytes must be a Uint8Array, got (?!.*secret)/u);
    }
    expect(() => buf.equals(value as never)).toThrow(/^other must be a FixedBuf, got (?!.*secret)/u);
  });
});
