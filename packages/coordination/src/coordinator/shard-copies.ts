import type { RunId, ShardId, ShardKey, TenantId } from "@gossip/contracts";
import { assertCount } from "@gossip/stdx";
import type { ShardRecord } from "../records/shard-record.ts";
import type { ShardRead } from "../store/store-reads.ts";

/** A shard as it was last seen, or nothing yet. */
interface ShardCopy {
  read: (ShardRead & { readonly other?: ShardRecord | undefined }) | undefined;
}

/** The copies of one run's shards. */
interface RunCopies {
  readonly tenant: TenantId;
  readonly run: RunId;
  /** Used since the last turn of generations. Using a copy again costs no change of the map. */
  young: Map<ShardId, ShardCopy>;
  /** Used before. Those that are not used until the next turn are forgotten. */
  old: Map<ShardId, ShardCopy>;
}

/** The most copies that may be kept: each holds a whole record. */
const MAX_COPIES = 1_000_000;

/**
 * The shards that were last worked on, as they were last seen, so that the calls of a lease holder need no read.
 *
 * A session keeps its own copy. These are for holders without a session in this process: the clients of a service. An
 * outdated copy costs a refused write and a read, never a wrong result, because every write is guarded.
 */
export class ShardCopies {
  /** Copies of one generation. */
  readonly #half: number;
  readonly #capacity: number;
  readonly #runs = new Map<string, RunCopies>();
  /** The run of the last call. Most calls are about the same run as the one before. */
  #last: RunCopies | undefined;
  #youngCount = 0;

  constructor(capacity: number) {
    assertCount(capacity, "number of shard copies", { min: 0, max: MAX_COPIES });
    this.#capacity = capacity;
    this.#half = Math.max(1, Math.ceil(capacity / 2));
  }

  /** The runs that have copies, or had some lately. */
  get runCount(): number {
    return this.#runs.size;
  }

  /** The copy of a shard. An empty one if there is none, which the operation fills. */
  of(tenant: TenantId, { run, shard }: ShardKey): ShardCopy {
    if (this.#capacity === 0) return { read: undefined };
    const copies = this.#runOf(tenant, run);
    const young = copies.young.get(shard);
    if (young !== undefined) return young;
    const copy = copies.old.get(shard) ?? { read: undefined };
    this.#keep(copies, shard, copy);
    return copy;
  }

  /** Start a shard with an empty copy, for an operation that must read. */
  renew(tenant: TenantId, { run, shard }: ShardKey): ShardCopy {
    const copy = { read: undefined };
    if (this.#capacity > 0) this.#keep(this.#runOf(tenant, run), shard, copy);
    return copy;
  }

  /** Forget a shard: its holder is done with it. */
  drop(tenant: TenantId, { run, shard }: ShardKey): void {
    if (this.#capacity === 0) return;
    const copies = this.#runOf(tenant, run);
    if (copies.young.delete(shard)) this.#youngCount--;
    copies.old.delete(shard);
    if (copies.young.size > 0 || copies.old.size > 0) return;
    this.#runs.delete(nameOf(tenant, run));
    this.#last = undefined;
  }

  #keep(copies: RunCopies, shard: ShardId, copy: ShardCopy): void {
    copies.old.delete(shard);
    const isNew = !copies.young.has(shard);
    if (isNew && this.#youngCount >= this.#half) this.#turn();
    copies.young.set(shard, copy);
    if (isNew) this.#youngCount++;
  }

  /** Forget the old copies; the young ones become old. */
  #turn(): void {
    for (const [name, copies] of this.#runs) {
      copies.old = copies.young;
      copies.young = new Map();
      if (copies.old.size === 0 && copies !== this.#last) this.#runs.delete(name);
    }
    this.#youngCount = 0;
  }

  /** The copies of a run, which becomes the last one. */
  #runOf(tenant: TenantId, run: RunId): RunCopies {
    const last = this.#last;
    if (last !== undefined && last.run === run && last.tenant === tenant) return last;
    const name = nameOf(tenant, run);
    let copies = this.#runs.get(name);
    if (copies === undefined) this.#runs.set(name, (copies = { tenant, run, young: new Map(), old: new Map() }));
    return (this.#last = copies);
  }
}

function nameOf(tenant: TenantId, run: RunId): string {
  return `${tenant}${run.toString(16)}`;
}
