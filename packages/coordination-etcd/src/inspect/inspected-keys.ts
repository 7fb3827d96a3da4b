import type { ShardRecord } from "@gossip/coordination";
import type { IndexEntry } from "@gossip/coordination-fsck";
import type { KeyValue } from "@gossip/etcd-client";
import type { Cluster } from "../cluster/cluster.ts";
import { indexEntries } from "../layout/encoded-shards.ts";
import { notesOfRun } from "../layout/note-keys.ts";
import {
  addressOf,
  isSpace,
  pathOf,
  ShardKind,
  shardOf,
  type Layout,
  type RunAddress,
  type Space,
} from "../layout/layout.ts";

const INDEX_NAMES: Readonly<Record<string, string>> = {
  [ShardKind.Begun]: "begun",
  [ShardKind.Fresh]: "fresh",
  [ShardKind.Held]: "held",
  [ShardKind.Parked]: "parked",
  [ShardKind.Split]: "split",
  [ShardKind.Order]: "order",
};

/** The keys of a run. */
export interface FoundRun {
  readonly address: RunAddress;
  head?: KeyValue;
  hasRecord?: boolean;
  /** Its deletion mark. */
  mark?: KeyValue;
}

/** The spaces of a store at a revision. */
export interface FoundKeys {
  readonly runs: readonly FoundRun[];
  /** Spaces to be swept, with the path of the run that they belonged to. */
  readonly unswept: ReadonlyMap<Space, string>;
  readonly staged: ReadonlySet<Space>;
}

/** Every run that has any key, once and in order. */
export async function findKeys(cluster: Cluster, revision: bigint): Promise<FoundKeys> {
  const runs = new Map<string, FoundRun>();
  const visit = async (family: "head" | "run" | "deleted", note: (run: FoundRun, kv: KeyValue) => void) => {
    for await (const page of cluster.walk(revision, { ...cluster.layout.family(family), keysOnly: family === "run" })) {
      for (const kv of page) {
        const address = addressOf(kv.key);
        if (address === undefined) continue;
        const path = pathOf(address);
        const run = runs.get(path) ?? { address };
        note(run, kv);
        runs.set(path, run);
      }
    }
  };
  await visit("head", (run, kv) => (run.head = kv));
  await visit("run", (run) => (run.hasRecord = true));
  await visit("deleted", (run, kv) => (run.mark = kv));
  const unswept = new Map<Space, string>();
  for await (const page of cluster.walk(revision, cluster.layout.family("unswept")))
    for (const { key, value } of page) unswept.set(lastPart(key), value.toString());
  const staged = new Set<Space>();
  for await (const page of cluster.walk(revision, { ...cluster.layout.family("staged"), keysOnly: true }))
    for (const { key } of page) staged.add(lastPart(key));
  return { runs: [...runs].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, run]) => run), unswept, staged };
}

/** The space that a head names; `undefined` if it names none. */
export function namedBy(head: KeyValue | undefined): Space | undefined {
  const text = head?.value.toString("latin1") ?? "";
  return isSpace(text) ? text : undefined;
}

/** Spaces that have keys but are not referenced. Reads only the gaps between the referenced ones. */
export async function findOrphans(
  cluster: Cluster,
  revision: bigint,
  { runs, unswept, staged }: FoundKeys,
): Promise<Space[]> {
  const { layout } = cluster;
  const named = [...unswept.keys(), ...staged, ...runs.flatMap(({ head }) => namedBy(head) ?? [])];
  const all = layout.family("s");
  const orphans: Space[] = [];
  let from = all.get;
  for (const space of [...new Set(named)].toSorted()) {
    const { get, end } = layout.space(space);
    orphans.push(...(await spacesIn(cluster, revision, { from, end: get })));
    from = end;
  }
  orphans.push(...(await spacesIn(cluster, revision, { from, end: all.end })));
  return orphans;
}

/** The runs that have notes. Skips from the first note of a run to the next run. */
export async function findRunsOfNotes(cluster: Cluster, revision: bigint): Promise<RunAddress[]> {
  const { get, end } = cluster.layout.family("note");
  const addresses: RunAddress[] = [];
  let from = get;
  while (from < end) {
    const { found } = await cluster.look([{ get: from, end, limit: 1, keysOnly: true, revision }]);
    const key = found[0]!.kvs[0]?.key;
    if (key === undefined) break;
    const address = addressOf(`/${key.slice(get.length).split("/").slice(0, 2).join("/")}`);
    if (address !== undefined) addresses.push(address);
    from = address === undefined ? `${key}\0` : notesOfRun(cluster.layout, address).end;
  }
  return addresses;
}

/** Converts an index key to an entry. The value is part of it, so a wrong deadline makes another entry. */
export function indexEntryOf(
  layout: Layout,
  { key, value }: { readonly key: string; readonly value: string | Uint8Array },
): IndexEntry {
  const kind = key.slice(layout.prefix.length).split("/")[2] ?? "";
  const held = typeof value === "string" ? value : Buffer.from(value).toString("hex");
  return { index: INDEX_NAMES[kind] ?? "unknown", shard: shardOf(key), key: `${key}=${held}` };
}

/** The index entries that a shard must have. */
export function entriesOf(layout: Layout, space: Space, record: ShardRecord): IndexEntry[] {
  return indexEntries(layout, space, record).map((entry) => indexEntryOf(layout, entry));
}

async function spacesIn(
  cluster: Cluster,
  revision: bigint,
  { from, end }: { readonly from: string; readonly end: string },
): Promise<Space[]> {
  const spaces: Space[] = [];
  let at = from;
  while (at < end) {
    const { found } = await cluster.look([{ get: at, end, limit: 1, keysOnly: true, revision }]);
    const first = found[0]!.kvs[0];
    if (first === undefined) break;
    const space = cluster.layout.spaceOf(first.key);
    spaces.push(space);
    at = cluster.layout.space(space).end;
  }
  return spaces;
}

function lastPart(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}
