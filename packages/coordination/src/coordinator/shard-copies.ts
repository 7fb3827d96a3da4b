import type { ShardKey, TenantId } from "@gossip/contracts";
import { assertCount } from "@gossip/stdx";
import type { ShardRecord } from "../records/shard-record.ts";
import type { ShardRead } from "../store/store-reads.ts";

/** A shard as it was last seen, or nothing yet. */
interface ShardCopy {
  read: (ShardRead & { readonly other?: ShardRecord | undefined }) | undefined;
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
  /** Used since the last turn of generations. Using a copy again costs no change of the map. */
  #young = new Map<string, ShardCopy>();
  /** Used before. Those that are not used until the next turn are forgotten. */
  #old = new Map<string, ShardCopy>();

  constructor(capacity: number) {
    assertCount(capacity, "number of shard copies", { min: 0, max: MAX_COPIES });
    this.#capacity = capacity;
    this.#half = Math.max(1, Math.ceil(capacity / 2));
  }

  /** The copy of a shard. An empty one if there is none, which the operation fills. */
  of(tenant: TenantId, key: ShardKey): ShardCopy {
    if (this.#capacity === 0) return { read: undefined };
    const name = nameOf(tenant, key);
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const copy = this.#old.get(name) ?? { read: undefined };
    this.#keep(name, copy);
    return copy;
  }

  /** Start a shard with an empty copy, for an operation that must read. */
  renew(tenant: TenantId, key: ShardKey): ShardCopy {
    const copy = { read: undefined };
    if (this.#capacity > 0) this.#keep(nameOf(tenant, key), copy);
    return copy;
  }

  /** Forget a shard: its holder is done with it. */
  drop(tenant: TenantId, key: ShardKey): void {
    if (this.#capacity === 0) return;
    const name = nameOf(tenant, key);
    this.#young.delete(name);
    this.#old.delete(name);
  }

  #keep(name: string, copy: ShardCopy): void {
    this.#old.delete(name);
    if (this.#young.size >= this.#half && !this.#young.has(name)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(name, copy);
  }
}

function nameOf(tenant: TenantId, { run, shard }: ShardKey): string {
  return `${tenant}${run.toString(16)}.${shard.toString(16)}`;
}
