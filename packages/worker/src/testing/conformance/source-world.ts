import type { RangeInput } from "@gossip/contracts";
import type { Expect } from "@gossip/coordination/testing";
import { byteMidpoint, keySuccessor } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import type { ItemBatch, ItemProblem, ReadRequest, Source } from "../../sources/source.ts";
import type { SourceFixture } from "./source-fixture.ts";

export const EVERYTHING: RangeInput = { start: new Uint8Array(0), end: new Uint8Array(0) };

/** What was read, in order of arrival. */
export interface Reading {
  /** As the source returned them, not copied. */
  readonly keys: readonly Uint8Array[];
  readonly problems: readonly ItemProblem[];
}

/** A source under test, and what the cases need to try it. */
export class SourceWorld {
  readonly source: Source;
  readonly keys: readonly Uint8Array[];
  readonly expect: Expect;
  readonly #fixture: SourceFixture;
  #state = 0x9e3779b9;

  constructor(fixture: SourceFixture, expect: Expect) {
    this.source = fixture.source;
    this.keys = fixture.keys;
    this.expect = expect;
    this.#fixture = fixture;
  }

  /** How many handles are open. Always 0 if the fixture does not report it. */
  async openHandles(): Promise<number> {
    return (await this.#fixture.openHandleCount?.()) ?? 0;
  }

  async read(request: Partial<ReadRequest> = {}): Promise<Reading> {
    const keys: Uint8Array[] = [];
    const problems: ItemProblem[] = [];
    for await (const batch of this.batches(request)) {
      for (const { key } of batch.items) keys.push(key);
      problems.push(...(batch.problems ?? []));
    }
    return { keys, problems };
  }

  batches(request: Partial<ReadRequest> = {}): AsyncIterable<ItemBatch> {
    return this.source.read({ range: EVERYTHING, signal: new AbortController().signal, ...request });
  }

  /** Expect these keys in this order. Compared in hexadecimal, to make differences readable. */
  expectKeys(actual: readonly Uint8Array[], expected: readonly Uint8Array[]): void {
    this.expect(actual.map(hex)).toEqual(expected.map(hex));
  }

  /** A whole number from 0 up to but not including `bound`, the same in every run. */
  random(bound: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * bound);
  }

  /** Up to `count` indexes into the list of keys: the first, the last and some between. */
  places(count: number): readonly number[] {
    const last = this.keys.length - 1;
    if (last < count) return this.keys.map((_, index) => index);
    const chosen = new Set([0, 1, last - 1, last]);
    while (chosen.size < count) chosen.add(this.random(this.keys.length));
    return [...chosen].sort((a, b) => a - b);
  }

  /** A point to cut at: a key, right after a key, halfway to the next, or a prefix of one. */
  cutPoint(): Uint8Array {
    const index = this.random(this.keys.length);
    const key = this.keys[index]!;
    switch (this.random(4)) {
      case 0:
        return key;
      case 1:
        return keySuccessor(key) ?? key;
      case 2:
        return byteMidpoint(key, this.keys[index + 1] ?? Uint8Array.of(0xff)) ?? key;
      default:
        return key.slice(0, 1 + this.random(key.length));
    }
  }

  /** Ascending, without duplicates. */
  cutPoints(count: number): readonly Uint8Array[] {
    const points = Array.from({ length: count }, () => this.cutPoint()).sort(compareBytes);
    return points.filter((point, index) => index === 0 || compareBytes(points[index - 1]!, point) < 0);
  }
}

export function hex(key: Uint8Array): string {
  return Buffer.from(key).toString("hex");
}
