// A run with very many shards, as records: what a sample of it says is compared with all of it.
import {
  Cursor,
  FenceEpoch,
  LogicalTime,
  OpId,
  RunId,
  ShardId,
  ShardSpec,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import { newRunRecord, newShardRecord, type RunRecord, type ShardRecord } from "@gossip/coordination";
import { encodeTotalsToken } from "../runs/item-totals.ts";
import type { LeafCounts } from "./sample-totals.ts";

export const NOW: LogicalTime = LogicalTime.fromRaw(1_000n);
const HELD_UNTIL = LogicalTime.fromRaw(2_000n);
const CONFIG = { cursorSemantics: "Completed", leaseDuration: 1000n, maxShardRetries: undefined } as const;
const tenant = TenantId.ZERO;
const run = RunId.fromRaw(1n);
const NO_BYTES = new Uint8Array(0);
const DERIVED = 1n << 63n;

export interface LargeRunOptions {
  readonly roots: number;
  readonly random: () => number;
  /** How many children a shard is split into: 0 for none. */
  readonly childrenOf?: (depth: number) => number;
  readonly isDone: () => boolean;
  readonly itemsOf: (index: number) => number;
  readonly isPaged?: boolean;
  readonly firstId?: number;
  readonly heldCount?: number;
}

export class LargeRun {
  readonly shards = new Map<ShardId, ShardRecord>();
  readonly record: RunRecord;
  readonly #options: LargeRunOptions;
  #derived = 0n;
  /** Shards without children so far, in key order. */
  #leaves = 0;

  constructor(options: LargeRunOptions) {
    this.#options = options;
    const { roots, isPaged = true, firstId = 1 } = options;
    const ids = Array.from({ length: roots }, (_, index) => ShardId.fromRaw(BigInt(firstId + index)));
    for (const id of ids) this.#grow(id, undefined, 0);
    const rootShards = isPaged ? ids.slice(-Math.ceil(roots / 10)) : ids;
    const entry = (opId: bigint) => ({
      opId: OpId.fromRaw(opId),
      payloadHash: 1n as RunRecord["opLog"][number]["payloadHash"],
      executedAt: NOW,
      kind: "RegisterShards" as const,
      result: { kind: "RegisteredShards" as const, shards: rootShards.slice(-1) },
    });
    const opLog = isPaged ? [entry(1n), entry(2n)] : [entry(1n)];
    this.record = { ...newRunRecord({ tenant, run, config: CONFIG, now: NOW }), status: "Active", rootShards, opLog };
  }

  get leaves(): ShardRecord[] {
    return [...this.shards.values()].filter(({ status }) => status !== "Split");
  }

  get counts(): LeafCounts {
    const counts = { done: 0, leased: 0, waiting: 0, parked: 0 };
    for (const { status, lease } of this.leaves)
      counts[status === "Done" ? "done" : lease === undefined ? "waiting" : "leased"]++;
    return counts;
  }

  #grow(id: ShardId, parent: ShardId | undefined, depth: number): void {
    const { childrenOf = () => 0 } = this.#options;
    const children = Array.from({ length: childrenOf(depth) }, () => ShardId.fromRaw(DERIVED + this.#derived++));
    if (children.length === 0) return this.#addLeaf(id, parent);
    this.shards.set(id, { ...this.#newShard(id, parent), status: "Split", spawned: children });
    for (const child of children) this.#grow(child, id, depth + 1);
  }

  #addLeaf(id: ShardId, parent: ShardId | undefined): void {
    const { isDone, itemsOf, heldCount = 0 } = this.#options;
    const index = this.#leaves;
    const shard = this.#newShard(id, parent);
    this.#leaves++;
    if (index < heldCount) {
      const lease = { owner: WorkerId.fromRaw(1n), deadline: HELD_UNTIL, opId: OpId.fromRaw(1n) };
      this.shards.set(id, { ...shard, lease, fenceEpoch: FenceEpoch.fromRaw(2n) });
    } else if (isDone()) {
      const token = encodeTotalsToken({ items: itemsOf(index), failed: 0, unreadable: 0 }, NO_BYTES);
      const cursor = Cursor.fromParts({ lastKey: shard.spec.keyRangeStart, token });
      this.shards.set(id, { ...shard, status: "Done", cursor });
    } else this.shards.set(id, shard);
  }

  #newShard(shard: ShardId, parent: ShardId | undefined): ShardRecord {
    const spec = ShardSpec.withRange({ start: keyOf(this.#leaves), end: keyOf(this.#leaves + 1) });
    const cursor = Cursor.initial();
    return newShardRecord({
      tenant,
      key: { run, shard },
      spec,
      cursor,
      cursorSemantics: "Completed",
      parent,
      now: NOW,
    });
  }
}

function keyOf(index: number): Uint8Array {
  const key = new Uint8Array(4);
  new DataView(key.buffer).setUint32(0, index);
  return key;
}
