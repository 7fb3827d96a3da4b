// Buffers are where borrowed keys live. A length that lies gives a bound bytes that are not its own; a write that does not
// show in the generation lets a stale bound be read as a live one.
import { MAX_KEY_SIZE, MAX_METADATA_SIZE } from "@gossip/contracts";
import { InvariantViolation } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { KeyBuf } from "./key-buf.ts";
import { ascii, filled, NOT_BYTES } from "../keys.fixture.ts";
import { MetadataBuf } from "../hints/metadata-buf.ts";
import { ShardSpecScratch } from "../shards/shard-spec-scratch.ts";

describe.each([
  { name: "KeyBuf", make: () => new KeyBuf(), capacity: MAX_KEY_SIZE + 1, stated: KeyBuf.CAPACITY },
  { name: "MetadataBuf", make: () => new MetadataBuf(), capacity: MAX_METADATA_SIZE, stated: MetadataBuf.CAPACITY },
])("$name", ({ make, capacity, stated }) => {
  test("holds as many bytes as it says, and starts empty", () => {
    const buf = make();
    expect(stated).toBe(capacity);
    expect(buf.bytes.length).toBe(capacity);
    expect([buf.length, buf.isEmpty, buf.asBytes().length]).toEqual([0, true, 0]);
  });

  test("holds a copy of what it was given", () => {
    const buf = make();
    const given = ascii("abc");
    buf.copyFromSlice(given);
    given[0] = 0;
    expect(buf.asBytes()).toEqual(ascii("abc"));
    expect([buf.length, buf.isEmpty]).toEqual([3, false]);
    buf.copyFromSlice(ascii("z"));
    expect(buf.toOwned()).toEqual(ascii("z"));
  });

  test("a view shows later writes, an owned copy does not", () => {
    const buf = make();
    buf.copyFromSlice(ascii("abc"));
    const [view, owned] = [buf.asBytes(), buf.toOwned()];
    buf.copyFromSlice(ascii("xyz"));
    expect(view).toEqual(ascii("xyz"));
    expect(owned).toEqual(ascii("abc"));
  });

  test("takes a view of itself", () => {
    const buf = make();
    buf.copyFromSlice(ascii("abcdef"));
    buf.copyFromSlice(buf.asBytes().subarray(2));
    expect(buf.toOwned()).toEqual(ascii("cdef"));
  });

  test("is filled to the last byte and not beyond; a refusal changes nothing", () => {
    const buf = make();
    buf.copyFromSlice(filled(capacity));
    const { generation } = buf;
    expect(buf.length).toBe(capacity);
    expect(() => buf.copyFromSlice(filled(capacity + 1))).toThrow(
      `length must be a whole number from 0 to ${capacity}, got ${capacity + 1}`,
    );
    for (const length of [-1, 1.5, Number.NaN, capacity + 1, 2 ** 32, "1" as unknown as number]) {
      expect(() => buf.commit(length)).toThrow(InvariantViolation);
    }
    for (const value of NOT_BYTES) expect(() => buf.copyFromSlice(value as Uint8Array)).toThrow("must be a Uint8Array");
    expect([buf.length, buf.generation]).toEqual([capacity, generation]);
  });

  test("knows exactly its own views", () => {
    const buf = make();
    const other = make();
    expect(buf.isViewedBy(buf.asBytes())).toBe(true);
    expect(buf.isViewedBy(buf.bytes.subarray(5, 5))).toBe(true);
    expect(buf.isViewedBy(other.asBytes())).toBe(false);
    expect(buf.isViewedBy(buf.toOwned())).toBe(false);
    expect(buf.isViewedBy(Buffer.from("pooled"))).toBe(false);
    for (const value of NOT_BYTES)
      expect(() => buf.isViewedBy(value as Uint8Array)).toThrow("bytes must be a Uint8Array");
  });
});

test("every write to any part of a scratch raises its generation", () => {
  const scratch = new ShardSpecScratch();
  const seen = [scratch.generation];
  for (const part of [scratch.start, scratch.end, scratch.metadata]) {
    part.copyFromSlice(ascii("a"));
    seen.push(scratch.generation);
    part.commit(0);
    seen.push(scratch.generation);
  }
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
});
