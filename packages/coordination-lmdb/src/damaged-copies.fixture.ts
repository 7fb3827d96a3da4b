// A process that damages copies of a store one after another, and checks, opens and reads each. It prints a line for each copy. If
// damage can kill or hang the caller, it kills or hangs this process.

import { mkdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fsck } from "@gossip/coordination-fsck";
import { seededRandom } from "@gossip/tools/effort";
import { openLmdbStore } from "./open-lmdb-store.ts";
import { verifyLmdbFolder } from "./verify-folder.ts";

const { from, to, count } = JSON.parse(process.argv[2]!) as {
  readonly from: string;
  readonly to: string;
  readonly count: number;
};
const PAGE_SIZE = 4096;
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
  // Where the offsets of the nodes are, and where most nodes are.
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
  await opened.value.close();
  return { verified: "ok", opened: "ok", checked: checked.ok ? checked.value.findingCount : checked.error.kind };
}
