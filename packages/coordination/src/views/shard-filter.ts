import { type LogicalTime, type ShardStatus } from "@gossip/contracts";
import { assertObject } from "@gossip/stdx/internal";
import { isLeasedAt, type ShardRecord } from "../records/shard-record.ts";

/** Which shards to list. A missing field matches every shard. */
export interface ShardFilter {
  readonly status?: ShardStatus;
  /** Whether it is leased at the time of listing. */
  readonly isLeased?: boolean;
  /** Leave out shards that splits created. */
  readonly rootOnly?: boolean;
}

export interface ShardFilterCompanion {
  readonly ALL: ShardFilter;
  readonly ACTIVE: ShardFilter;
  /** Active and not leased. */
  readonly AVAILABLE: ShardFilter;
  readonly PARKED: ShardFilter;
  matches(filter: ShardFilter, record: Pick<ShardRecord, "status" | "lease" | "parent">, now: LogicalTime): boolean;
}

export const ShardFilter: ShardFilterCompanion = {
  ALL: /* @__PURE__ */ Object.freeze({}),
  ACTIVE: /* @__PURE__ */ Object.freeze({ status: "Active" }),
  AVAILABLE: /* @__PURE__ */ Object.freeze({ status: "Active", isLeased: false }),
  PARKED: /* @__PURE__ */ Object.freeze({ status: "Parked" }),

  matches(filter, record, now) {
    assertObject(filter, "shard filter");
    assertObject(record, "shard record");
    const { status, isLeased, rootOnly } = filter;
    if (status !== undefined && record.status !== status) return false;
    if (isLeased !== undefined && isLeasedAt(record, now) !== isLeased) return false;
    return rootOnly !== true || record.parent === undefined;
  },
};
