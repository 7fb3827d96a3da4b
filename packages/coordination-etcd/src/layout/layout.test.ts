// These keys are in clusters. A key that moves is a store that seems empty to the next version, and keys in another order are lists in
// another order. Before you change what this test expects: which version then reads what the previous version has written?

import { readFileSync } from "node:fs";
import { Cursor, LogicalTime, OpId, RunId, ShardId, TenantId, WorkerId, type ShardStatus } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressOf, Layout, ShardKind, shardOf, type Space } from "./layout.ts";
import { noteKey } from "./note-keys.ts";
import { deadlineBytes, heldUpTo, moveOperations, orderKey, stateEntry, type IndexedShard } from "./shard-indexes.ts";
import { baseKey, countedSpace, tallyOperations } from "./tallies.ts";

const layout = new Layout("gossip/");
const address = { tenant: TenantId.fromBytes(new Uint8Array(32).fill(0xab)), run: RunId.fromRaw(0x2an) };
const TENANT = "ab".repeat(32);
const RUN = "000000000000002a";
const SPACE = "0123456789abcdef0123";
const COUNTED = countedSpace(SPACE);
const SHARD = "8000000000000007";

const shard = ShardId.fromRaw((1n << 63n) | 7n);
const placed = (status: ShardStatus, fields: Partial<IndexedShard> = {}): IndexedShard => ({
  shard,
  status,
  lease: undefined,
  cursor: Cursor.initial(),
  ...fields,
});
const lease = (deadline: bigint) => ({
  owner: WorkerId.fromRaw(1n),
  deadline: LogicalTime.fromRaw(deadline),
  opId: OpId.fromRaw(1n),
});
const begun = Cursor.withLastKey(Uint8Array.of(1));
const keyOf = (of: IndexedShard) => stateEntry(layout, SPACE, of)?.key;
/** The key that is put when a shard becomes done, in the fourth update of a transaction. */
const doneTally = (space: Space) =>
  tallyOperations(layout, { space, position: 3 }, { before: { status: "Active" }, after: { status: "Done" } })[0]?.put;

const KEYS: Readonly<Record<string, string | undefined>> = {
  format: layout.format,
  "count/total": layout.totalCount,
  [`count/tenant/${TENANT}`]: layout.tenantCount(address.tenant),
  [`head/${TENANT}/${RUN}`]: layout.head(address),
  [`run/${TENANT}/${RUN}`]: layout.run(address),
  [`starved/${TENANT}/${RUN}`]: layout.starved(address),
  [`deleted/${TENANT}/${RUN}`]: layout.deleted(address),
  [`staged/${SPACE}`]: layout.staged(SPACE),
  [`unswept/${SPACE}`]: layout.unswept(SPACE),
  [`s/${SPACE}/r/${SHARD}`]: layout.record(SPACE, shard),
  [`s/${SPACE}/b/0a979046${SHARD}`]: keyOf(placed("Active", { cursor: begun })),
  [`s/${SPACE}/f/0a979046${SHARD}`]: keyOf(placed("Active")),
  [`s/${SPACE}/h/0000000000000002/${SHARD}`]: keyOf(placed("Active", { lease: lease(2n << 17n) })),
  [`s/${SPACE}/g`]: layout.page(SPACE),
  [`s/${SPACE}/n`]: layout.census(SPACE),
  [`s/${SPACE}/o/00ff61/${SHARD}`]: orderKey(layout, SPACE, { keyRangeStart: Uint8Array.of(0, 0xff, 0x61), shard }),
  [`note/${TENANT}/${RUN}/01/00ff61`]: noteKey(layout, address, "failure", Uint8Array.of(0, 0xff, 0x61)),
  [`s/${SPACE}/p/${SHARD}`]: keyOf(placed("Parked")),
  [`s/${SPACE}/t/=`]: baseKey(layout, SPACE),
  [`s/${SPACE}/t/ad3`]: doneTally(COUNTED)?.replace(COUNTED, SPACE),
  [`s/${SPACE}/x/${SHARD}`]: keyOf(placed("Split")),
};

describe("keys", () => {
  test.each(Object.entries(KEYS))("%s", (expected, key) => {
    expect(key).toBe(`gossip/${expected}`);
  });

  test("each family and each kind of key is drawn in the reference, and no other", () => {
    const page = readFileSync(new URL("../../../../docs/reference/etcd-layout.md", import.meta.url), "utf8");
    const drawn = [...page.matchAll(/^ *[├└]─ (\S+)/gmu)].map(([, name]) => name!);
    const ours = Object.keys(KEYS).map((key) =>
      key
        .replace(TENANT, "TENANT")
        .replace(RUN, "RUN")
        .replace(/\/0a9790468.*$/u, "/MIX·SHARD")
        .replace("0000000000000002", "BUCKET")
        .replace("t/ad3", "t/CHANGE·POSITION")
        .replace("01/00ff61", "CODE/KEY")
        .replace("00ff61", "START")
        .replace(SHARD, "SHARD"),
    );
    const wanted = ours.flatMap((name) =>
      name.startsWith("s/") ? [name.slice(`s/${SPACE}/`.length)] : [name.replace(SPACE, "SPACE")],
    );
    expect(drawn.toSorted()).toEqual([...wanted, "s/SPACE/"].toSorted());
    const letters = drawn.flatMap((name) =>
      /^[a-z]\/[A-Z]/u.test(name) && !/^[st]\//u.test(name) ? [name.slice(0, 1)] : [],
    );
    expect(letters.toSorted()).toEqual(Object.values(ShardKind).toSorted());
  });

  test("what is done is in no index by state", () => {
    expect(stateEntry(layout, SPACE, placed("Done"))).toBe(undefined);
  });

  test("the tenant, run and shard can be read from a key", () => {
    expect(addressOf(layout.head(address))).toEqual(address);
    expect(addressOf(`${layout.head(address)}0`)).toBe(undefined);
    expect(layout.spaceOf(layout.record(SPACE, shard))).toBe(SPACE);
    expect(shardOf(layout.record(SPACE, shard))).toBe(shard);
  });
});

describe("order", () => {
  const bytes = fc
    .array(fc.constantFrom(0x00, 0x01, 0x2f, 0xff), { maxLength: 4 })
    .map((values) => Uint8Array.from(values));
  const id = fc.constantFrom(0n, 1n, 1n << 63n, (1n << 64n) - 1n).map((raw) => ShardId.fromRaw(raw));

  test("is that of range starts and then of ids", () => {
    fc.assert(
      fc.property(bytes, bytes, id, id, (a, b, idA, idB) => {
        const [keyA, keyB] = [
          orderKey(layout, SPACE, { keyRangeStart: a, shard: idA }),
          orderKey(layout, SPACE, { keyRangeStart: b, shard: idB }),
        ];
        const expected = compareBytes(a, b) || Number(idA > idB) - Number(idA < idB);
        expect(Math.sign(Buffer.compare(Buffer.from(keyA), Buffer.from(keyB)))).toBe(Math.sign(expected));
      }),
    );
  });

  test("a range of leases up to a bucket has exactly those that end in it or before", () => {
    const time = fc.constantFrom(1n, (1n << 17n) - 1n, 1n << 17n, (1n << 18n) - 1n, 1n << 18n, (1n << 64n) - 1n);
    fc.assert(
      fc.property(time, time, (deadline, last) => {
        const { get, end } = heldUpTo(layout, SPACE, last >> 17n);
        const key = keyOf(placed("Active", { lease: lease(deadline) }))!;
        expect(get <= key && key < end).toBe(deadline >> 17n <= last >> 17n);
      }),
    );
  });
});

describe("moves", () => {
  const states = [
    placed("Active"),
    placed("Active", { cursor: begun }),
    placed("Active", { lease: lease(10n) }),
    placed("Active", { lease: lease(20n) }),
    placed("Active", { lease: lease(1n << 18n), cursor: begun }),
    placed("Done"),
    placed("Parked"),
    placed("Split"),
  ];

  test("leave a shard in the index of its new state, and in no other", () => {
    for (const before of states) {
      for (const after of states) {
        const entries = new Map<string, string>();
        const put = (key: string, value: string | Uint8Array) => entries.set(key, Buffer.from(value).toString("hex"));
        const from = stateEntry(layout, SPACE, before);
        if (from !== undefined) put(from.key, from.value);
        for (const operation of moveOperations(layout, SPACE, { before, after })) {
          if ("put" in operation) put(operation.put, operation.value);
          if ("delete" in operation) entries.delete(operation.delete);
        }
        const to = stateEntry(layout, SPACE, after);
        expect([...entries]).toEqual(to === undefined ? [] : [[to.key, Buffer.from(to.value).toString("hex")]]);
      }
    }
  });

  test("a checkpoint moves nothing, and a renewal within a bucket changes a value and no key", () => {
    const held = placed("Active", { lease: lease(10n) });
    expect(moveOperations(layout, SPACE, { before: held, after: { ...held, cursor: begun } })).toEqual([]);
    expect(moveOperations(layout, SPACE, { before: held, after: { ...held, lease: lease(20n) } })).toEqual([
      { put: keyOf(held), value: deadlineBytes(20n) },
    ]);
  });
});
