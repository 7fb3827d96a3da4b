// A strip and a heat map use one axis. If positions were not in key order, a page would show work where there is none,
// and "split here" would cut another shard.
import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyAxis, KeyAxisBuilder } from "./key-axis.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const NONE = new Uint8Array(0);

test("initial shards have equal widths, and keys lie inside by their bytes", () => {
  const axis = new KeyAxis([bytes("a"), bytes("b"), bytes("x"), bytes("y")], NONE);
  expect(["a", "b", "x", "y"].map((key) => axis.position(bytes(key)))).toEqual([0, 0.25, 0.5, 0.75]);
  expect(axis.position(Uint8Array.of(0x61, 0x80))).toBeCloseTo(0.125);
  expect(axis.endPosition(NONE)).toBe(1);
  expect(axis.position(bytes("A"))).toBe(0);
});

test("positions are in key order, and a key at a position lies there", () => {
  const key = fc.uint8Array({ minLength: 0, maxLength: 6 });
  fc.assert(
    fc.property(fc.uniqueArray(key, { minLength: 1, maxLength: 9, selector: String }), key, key, (all, one, other) => {
      const starts = all.toSorted(compareBytes);
      const axis = new KeyAxis(starts, NONE);
      const [low, high] = [one, other].toSorted(compareBytes) as [Uint8Array, Uint8Array];
      expect(axis.position(low)).toBeLessThanOrEqual(axis.position(high));
      const at = axis.position(low);
      expect(axis.position(axis.keyAt(at))).toBeCloseTo(at, 6);
    }),
  );
});

test("a key for people has no bytes that cannot be read", () => {
  const axis = new KeyAxis([bytes("logs/2024/"), bytes("logs/2025/")], bytes("logs/2026/"));
  for (let at = 0; at < 1; at += 0.01)
    expect(new TextDecoder().decode(axis.keyAt(at, { isText: true }))).toMatch(/^logs\/202[ -~]*$/);
});

test("an axis of very many initial shards stays small, and the residual of a split keeps its end", () => {
  const builder = new KeyAxisBuilder();
  const keyOf = (index: number): Uint8Array => Uint8Array.of(index >> 16, (index >> 8) & 255, index & 255);
  for (let index = 0; index < 50_000; index++) {
    builder.add({ start: keyOf(index), end: keyOf(index + 1), isInitial: true });
  }
  builder.add({ start: keyOf(50_000), end: keyOf(60_000), isInitial: false });
  const axis = builder.build()!;
  expect(axis.end).toEqual(keyOf(60_000));
  expect(axis.position(keyOf(25_000))).toBeCloseTo(0.5, 1);
  expect(new KeyAxisBuilder().build()).toBeUndefined();
});
