// Shards are listed by range start, and a start may be longer than a key of the tree. Were its tail left out of the order,
// two pages could show a shard twice or not at all.

import { MAX_KEY_SIZE, RunId, ShardId, TenantId } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RowKind, runKey } from "../layout/keyspace.ts";
import { orderEntries, PIECE_SIZE } from "../layout/order-key.ts";
import { rangeOf } from "../engine/rows.ts";
import { walkInOrder } from "./shard-order.ts";
import { makeRows, type TemporaryRows } from "../temporary-store.fixture.ts";

interface Placed {
  readonly keyRangeStart: Uint8Array;
  readonly shard: ShardId;
}

const address = { tenant: TenantId.ZERO, run: RunId.fromRaw(7n) };
const adjacent = { tenant: TenantId.ZERO, run: RunId.fromRaw(8n) };

// Starts that share whole pieces, end at a piece's end or one byte beside it, and differ in zeros, which are what an order of
// escaped bytes gets wrong first.
const size = fc.constantFrom(
  0,
  1,
  2,
  PIECE_SIZE - 1,
  PIECE_SIZE,
  PIECE_SIZE + 1,
  2 * PIECE_SIZE - 1,
  2 * PIECE_SIZE,
  2 * PIECE_SIZE + 1,
  MAX_KEY_SIZE - 2,
);
const filler = fc.constantFrom(0x00, 0x01, 0x61, 0xff);
const tail = fc.array(fc.constantFrom(0x00, 0x01, 0x61, 0xff), { maxLength: 2 });
const start = fc
  .tuple(size, filler, tail)
  .map(([length, byte, bytes]) => Uint8Array.from([...new Uint8Array(length).fill(byte), ...bytes]));
const placed = fc.record<Placed>({
  keyRangeStart: start,
  shard: fc.constantFrom(0n, 1n, 2n, 255n, 1n << 63n).map((raw) => ShardId.fromRaw(raw)),
});
const shards = fc.uniqueArray(placed, {
  minLength: 1,
  maxLength: 12,
  comparator: (a, b) => a.shard === b.shard && compareBytes(a.keyRangeStart, b.keyRangeStart) === 0,
});

describe("walkInOrder", () => {
  let temporary: TemporaryRows;
  beforeAll(async () => {
    temporary = await makeRows();
  });
  afterAll(() => temporary.dispose());

  async function fill(list: readonly Placed[]): Promise<void> {
    const { rows } = temporary;
    await rows.transact(() => {
      const old = [...rows.keys(rangeOf(runKey(RowKind.Order, address)))];
      for (const key of old) rows.remove(key);
      for (const { keyRangeStart, shard } of list)
        for (const entry of orderEntries(address, keyRangeStart, shard)) rows.put(entry);
      for (const entry of orderEntries(adjacent, new Uint8Array(MAX_KEY_SIZE), ShardId.fromRaw(99n))) rows.put(entry);
    });
    rows.refresh();
  }

  test("yields every shard once, by start and then by id, from any position", async () => {
    await fc.assert(
      fc.asyncProperty(shards, placed, async (list, elsewhere) => {
        await fill(list);
        const sorted = list.toSorted(byPosition);
        expect([...walkInOrder(temporary.rows, address, undefined)]).toEqual(sorted.map(({ shard }) => shard));
        for (const after of [...list, elsewhere]) {
          const rest = sorted.filter((other) => byPosition(other, after) > 0);
          expect([...walkInOrder(temporary.rows, address, after)]).toEqual(rest.map(({ shard }) => shard));
        }
      }),
      { numRuns: 150 },
    );
  });

  test("an entry fits into a key, whatever the start is", () => {
    for (const byte of [0x00, 0xff]) {
      const entries = orderEntries(address, new Uint8Array(MAX_KEY_SIZE).fill(byte), ShardId.fromRaw(1n));
      expect(Math.max(...entries.map((entry) => entry.length))).toBeLessThanOrEqual(1978);
    }
  });
});

function byPosition(a: Placed, b: Placed): number {
  const order = compareBytes(a.keyRangeStart, b.keyRangeStart);
  return order === 0 ? Number(a.shard - b.shard) : order;
}
