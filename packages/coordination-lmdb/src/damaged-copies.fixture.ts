// A process that damages copies of a store one after another, and checks, opens and reads each. It prints a line per
// copy. Damage that can kill or hang the caller kills or hangs this process.

import { mkdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { fsck } from "@gossip/coordination-fsck";
import { seededRandom } from "@gossip/tools/effort";
import { unwrap } from "@gossip/stdx";
import type { ShardKey, TenantId } from "@gossip/contracts";
import { PAGE_SIZE } from "./engine/open-database.ts";
import type { LmdbStore } from "./lmdb-store.ts";
import { openLmdbStore } from "./open/open-lmdb-store.ts";
import { verifyLmdbFolder } from "./inspect/verify-folder.ts";

const { from, to, count } = JSON.parse(process.argv[2]!) as {
  readonly from: string;
  readonly to: string;
  readonly count: number;
};
const HEADER_SIZE = 24;
const STALL_MS = 20_000;

const random = seededRandom(41);
const below = (limit: number): number => Math.floor(random() * limit);
const whole = readFileSync(join(from, "data.mdb"));
const pageCount = Math.floor(whole.length / PAGE_SIZE);

type Damage = (bytes: Buffer) => Buffer;

/** Flip a bit somewhere in the first bytes of a page. */
function flipIn(size: number, page: () => number): Damage {
  return (bytes) => {
    const at = page() * PAGE_SIZE + below(size);
    bytes[at]! ^= 1 << below(8);
    return bytes;
  };
}

const DAMAGES: readonly Damage[] = [
  flipIn(PAGE_SIZE, () => below(pageCount)),
  flipIn(HEADER_SIZE, () => below(pageCount)),
  // The offsets of the nodes, and most nodes.
  flipIn(256, () => below(pageCount)),
  flipIn(160, () => below(2)),
  (bytes) => bytes.subarray(0, below(bytes.length)),
  (bytes) => bytes.fill(0, PAGE_SIZE * below(pageCount), PAGE_SIZE * (1 + below(pageCount))),
  (bytes) => {
    const [one, other] = [below(pageCount) * PAGE_SIZE, below(pageCount) * PAGE_SIZE];
    whole.copy(bytes, one, other, other + PAGE_SIZE);
    return bytes;
  },
];

const original = unwrap(await openLmdbStore({ path: from }));
const records = recordsOf(original);
await original.close();

for (let copy = 0; copy < count; copy++) {
  const path = join(to, String(copy));
  mkdirSync(path);
  writeFileSync(join(path, "data.mdb"), DAMAGES[copy % DAMAGES.length]!(Buffer.from(whole)));
  writeSync(1, `${JSON.stringify({ copy, ...(await look(path)) })}\n`);
  rmSync(path, { recursive: true });
}

async function look(path: string): Promise<object> {
  const verified = await verifyLmdbFolder({ path, stallMs: STALL_MS });
  if (!verified.ok) return { verified: verified.error.kind };
  const opened = await openLmdbStore({ path });
  if (!opened.ok) return { verified: "ok", opened: opened.error.kind };
  const checked = await fsck(opened.value.inspect());
  // A store that fsck finds in order must have all its records.
  const isWhole = !checked.ok || checked.value.findingCount > 0 || recordsOf(opened.value) === records;
  await opened.value.close();
  const found = checked.ok ? checked.value.findingCount : checked.error.kind;
  return { verified: "ok", opened: "ok", checked: isWhole ? found : "missed" };
}

/**
 * The record of a shard, without its version. A flipped bit can turn a version into another one that a shard can have, which nothing gives
 * away: the holder of the shard gets a conflict, reads the record again and goes on.
 */
function readRecord(store: LmdbStore, tenant: TenantId, key: ShardKey): unknown {
  const { run, shard } = unwrap(store.readShard(tenant, key));
  return [run, shard?.record];
}

/** Every record of a store, looked up by its key. */
function recordsOf(store: LmdbStore): string {
  const all = { after: undefined, limit: 10_000 };
  const found: unknown[] = [];
  for (const tenant of unwrap(store.listTenants(all)).items) {
    for (const run of unwrap(store.listRuns({ ...all, tenant })).items) {
      const shards = unwrap(store.listShards({ ...all, tenant, run: run.run, filter: {}, now: 1n as never })).items;
      found.push(run, ...shards.map(({ shard }) => readRecord(store, tenant, { run: run.run, shard })));
    }
  }
  return inspect(found, { depth: null, maxArrayLength: null, maxStringLength: null });
}
