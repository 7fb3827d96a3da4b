import { RunId, ShardId, TenantId } from "@gossip/contracts";
import { prefixEnd } from "@gossip/etcd-client";

/** Identifies a run, as every operation of the store interface does. */
export interface RunAddress {
  readonly tenant: TenantId;
  readonly run: RunId;
}

/**
 * The key space of a run's shards: eighty random bits in hex, or a `k` and seventy-six, if the changes of status in it are
 * counted (`tallies.ts`). Every attempt to register shards uses its own, and the run's head names the valid one.
 */
export type Space = string;

export function isSpace(text: string): boolean {
  return /^[0-9a-fk][0-9a-f]{19}$/u.test(text);
}

/** A half-open range of keys. */
export interface KeyRange {
  readonly get: string;
  readonly end: string;
}

/**
 * The kinds of shard keys, by the letter that follows the space. Each shard has a `Record` and an `Order` key, and at
 * most one of the others.
 */
export const ShardKind = {
  /** The record itself. */
  Record: "r",
  /** Active without a lease, started. */
  Begun: "b",
  /** Active without a lease, not started. */
  Fresh: "f",
  /** Active with a lease, which may have expired. */
  Held: "h",
  Parked: "p",
  Split: "x",
  /** By range start. */
  Order: "o",
} as const;

export type ShardKind = (typeof ShardKind)[keyof typeof ShardKind];

/** The kinds that can be rebuilt from the records. */
export const INDEX_KINDS = [
  ShardKind.Begun,
  ShardKind.Fresh,
  ShardKind.Held,
  ShardKind.Parked,
  ShardKind.Split,
  ShardKind.Order,
] as const;

const ID_LENGTH = 16;
const SPACE_LENGTH = 20;

/**
 * Builds the keys of a store, below its prefix. Ids are in hex, so that keys sort like ids.
 *
 * ```text
 * format                                        the layout's number
 * count/total                                   shards that exist
 * count/tenant/TENANT                           of a tenant
 * head/TENANT/RUN                               the run's space, if it has one; its revision is the run's version
 * run/TENANT/RUN                                the run's record, written with the head, always
 * starved/TENANT/RUN                            until when a worker finds nothing to claim
 * deleted/TENANT/RUN                            the mark that a removed run leaves
 * note/TENANT/RUN/CODE/KEY                      a note of a run: the code of its space, its key
 * staged/SPACE                                  a registration that is under way, or broke off
 * unswept/SPACE                                 an unused space that is still to be emptied, and the run whose notes go
 *                                               with it if the run was removed
 * s/SPACE/r/SHARD                               a shard's record; its revision is the shard's version
 * s/SPACE/b/MIX SHARD                           to claim: begun and given back
 * s/SPACE/f/MIX SHARD                           to claim: not begun
 * s/SPACE/h/BUCKET/SHARD                        held; the deadline
 * s/SPACE/p/SHARD                               parked
 * s/SPACE/x/SHARD                               split
 * s/SPACE/o/START/SHARD                         by range start
 * s/SPACE/n                                     the census of the run's shards
 * s/SPACE/t/CHANGE POSITION                     put with each change of status: from, to, and where in its transaction
 * s/SPACE/t/=                                   status counts to add to those
 * s/SPACE/g                                     a further page of the run's shards is being staged, or staging broke off
 * ```
 */
export class Layout {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  get format(): string {
    return `${this.prefix}format`;
  }

  get totalCount(): string {
    return `${this.prefix}count/total`;
  }

  tenantCount(tenant: TenantId): string {
    return `${this.prefix}count/tenant/${tenant}`;
  }

  head(address: RunAddress): string {
    return `${this.prefix}head/${pathOf(address)}`;
  }

  run(address: RunAddress): string {
    return `${this.prefix}run/${pathOf(address)}`;
  }

  starved(address: RunAddress): string {
    return `${this.prefix}starved/${pathOf(address)}`;
  }

  deleted(address: RunAddress): string {
    return `${this.prefix}deleted/${pathOf(address)}`;
  }

  staged(space: Space): string {
    return `${this.prefix}staged/${space}`;
  }

  unswept(space: Space): string {
    return `${this.prefix}unswept/${space}`;
  }

  record(space: Space, shard: ShardId): string {
    return `${this.#kind(space, ShardKind.Record)}${ShardId.format(shard)}`;
  }

  census(space: Space): string {
    return `${this.prefix}s/${space}/n`;
  }

  page(space: Space): string {
    return `${this.prefix}s/${space}/g`;
  }

  /** All keys of a kind within a space. */
  kind(space: Space, kind: ShardKind): KeyRange {
    const get = this.#kind(space, kind);
    return { get, end: prefixEnd(get) };
  }

  /** All keys of two kinds, and of the kinds whose letters lie between. */
  kinds(space: Space, first: ShardKind, last: ShardKind): KeyRange {
    return { get: this.#kind(space, first), end: prefixEnd(this.#kind(space, last)) };
  }

  /** All keys of a family, such as `head/`. */
  family(
    name: "head" | "run" | "starved" | "deleted" | "note" | "staged" | "unswept" | "count/tenant" | "s",
  ): KeyRange {
    const get = `${this.prefix}${name}/`;
    return { get, end: prefixEnd(get) };
  }

  /** All keys of a space. */
  space(space: Space): KeyRange {
    const get = `${this.prefix}s/${space}/`;
    return { get, end: prefixEnd(get) };
  }

  /** The space of a shard's key. */
  spaceOf(key: string): Space {
    const start = this.prefix.length + 2;
    return key.slice(start, start + SPACE_LENGTH);
  }

  #kind(space: Space, kind: ShardKind): string {
    return `${this.prefix}s/${space}/${kind}/`;
  }
}

/** The tenant and run that a key ends with; `undefined` if it does not end with them. */
export function addressOf(key: string): RunAddress | undefined {
  const match = /\/([0-9a-f]{64})\/([0-9a-f]{16})$/u.exec(key);
  if (match === null) return undefined;
  return { tenant: TenantId.fromBytes(Buffer.from(match[1]!, "hex")), run: RunId.fromRaw(BigInt(`0x${match[2]!}`)) };
}

/** The shard that a key ends with. */
export function shardOf(key: string): ShardId {
  const digits = key.slice(-ID_LENGTH);
  return ShardId.fromRaw(/^[0-9a-f]{16}$/u.test(digits) ? BigInt(`0x${digits}`) : 0n);
}

/** The least key above `key`. */
export function keyAfter(key: string): string {
  return `${key}\0`;
}

export function pathOf({ tenant, run }: RunAddress): string {
  return `${tenant}/${RunId.format(run)}`;
}
