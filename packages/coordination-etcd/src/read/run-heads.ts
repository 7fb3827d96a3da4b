import type { RunHead, RunRecord, ShardRecord, Versioned } from "@gossip/coordination";
import { corruptionFrom, decodeRunHead, decodeRunRecord, decodeShardRecord } from "@gossip/coordination-codec";
import { InfraError } from "@gossip/coordination-errors";
import type { GetOperation, KeyValue, RangeResult } from "@gossip/etcd-client";
import { CorruptStore } from "@gossip/store-kit";
import type { Cluster } from "../cluster/cluster.ts";
import { Outpaced } from "../cluster/etcd-failure.ts";
import { isSpace, pathOf, shardOf, type RunAddress, type Space } from "../layout/layout.ts";
import { runVersion, shardVersion } from "../layout/record-version.ts";

/** Maximum number of cached run heads. */
const MAX_KNOWN_HEADS = 1024;
/** How often to retry a read because the run was written meanwhile. */
const MAX_TRIES = 16;

/** What is needed of a run without reading its record, which may take 160 KB. */
export interface KnownRun {
  readonly head: Versioned<RunHead>;
  readonly revision: bigint;
  /** The space of its shards, if it has any. */
  readonly space: Space | undefined;
}

/** A run, and what was read with it at the same revision. */
export interface RunLook {
  readonly run: KnownRun;
  readonly revision: bigint;
  readonly found: readonly RangeResult[];
}

/**
 * Caches the heads of runs.
 *
 * Every operation on a shard needs its run's head and space. The head's key is small and always written with the run's
 * record: while its revision matches the cached one, nothing else needs to be read, and a shard is one round trip away.
 */
export class RunHeads {
  readonly #cluster: Cluster;
  readonly #known = new Map<string, KnownRun>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Reads a run and the given keys at one revision. Returns `undefined` if there is no such run. */
  async lookWith(
    address: RunAddress,
    gets: (space: Space | undefined) => readonly GetOperation[],
  ): Promise<RunLook | undefined> {
    const name = pathOf(address);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const run = this.#known.get(name) ?? (await this.#load(address));
      if (run === undefined) return undefined;
      const { revision, found } = await this.#cluster.look([
        { get: this.#cluster.layout.head(address) },
        ...gets(run.space),
      ]);
      const [head, ...rest] = found;
      const revisionOfHead = head!.kvs[0]?.modRevision;
      if (revisionOfHead === run.revision) return { run, revision, found: rest };
      // The run was written or removed since, so its shards may be in another space.
      this.#known.delete(name);
      if (revisionOfHead === undefined) return undefined;
    }
    throw new Outpaced();
  }

  async #load(address: RunAddress): Promise<KnownRun | undefined> {
    const { layout } = this.#cluster;
    const { found } = await this.#cluster.look([{ get: layout.head(address) }, { get: layout.run(address) }]);
    const [head, record] = [found[0]!.kvs[0], found[1]!.kvs[0]];
    if (head === undefined && record === undefined) return undefined;
    if (head?.modRevision !== record?.modRevision) throw new CorruptStore(torn());
    const decoded = decodeRunHead(record!.value);
    if (!decoded.ok) throw new CorruptStore(corruptionFrom(decoded.error, "etcd.readRun"));
    assertAddress(address, decoded.value);
    const known = {
      head: { record: decoded.value, version: runVersion(head!.modRevision) },
      revision: head!.modRevision,
      space: spaceIn(head!),
    };
    if (this.#known.size >= MAX_KNOWN_HEADS) this.#known.clear();
    this.#known.set(pathOf(address), known);
    return known;
  }
}

/** The space that a head names. */
export function spaceIn(head: KeyValue): Space | undefined {
  const space = head.value.toString("latin1");
  if (space === "") return undefined;
  if (!isSpace(space)) throw new CorruptStore(badHead());
  return space;
}

export function decodeRun(address: RunAddress, { value }: KeyValue): RunRecord {
  const decoded = decodeRunRecord(value);
  if (!decoded.ok) throw new CorruptStore(corruptionFrom(decoded.error, "etcd.readRun"));
  assertAddress(address, decoded.value);
  return decoded.value;
}

/** Decodes a shard and checks that it belongs under its key. */
export function readShardAt(
  address: RunAddress,
  space: Space,
  { key, value, modRevision }: KeyValue,
): Versioned<ShardRecord> {
  const decoded = decodeShardRecord(value);
  if (!decoded.ok) throw new CorruptStore(corruptionFrom(decoded.error, "etcd.readShard"));
  assertAddress(address, decoded.value);
  if (decoded.value.shard !== shardOf(key)) throw new CorruptStore(misplaced());
  return { record: decoded.value, version: shardVersion({ space, revision: modRevision }) };
}

export function danglingEntry(): CorruptStore {
  return new CorruptStore(
    InfraError.corruption({ operation: "etcd.listShards", message: "an index names a shard that does not exist" }),
  );
}

function assertAddress({ tenant, run }: RunAddress, record: RunAddress): void {
  if (record.tenant !== tenant || record.run !== run) throw new CorruptStore(misplaced());
}

function misplaced(): InfraError {
  return InfraError.corruption({
    operation: "etcd.readRecord",
    message: "a record is stored under the key of another",
  });
}

function torn(): InfraError {
  return InfraError.corruption({
    operation: "etcd.readRun",
    message: "a run's record and its head were not written together",
  });
}

function badHead(): InfraError {
  return InfraError.corruption({ operation: "etcd.readRun", message: "a run's head does not name a space" });
}
