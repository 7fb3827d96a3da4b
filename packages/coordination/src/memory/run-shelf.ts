import type { LogicalTime, ShardId, ShardStatus } from "@gossip/contracts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { ListPositionsQuery, ListShardsQuery, Page, ShardPosition, Versioned } from "../store/store-reads.ts";
import type { AcquireScratch } from "../views/acquire-scratch.ts";
import { leastKey, type RunProgress } from "../views/run-progress.ts";
import { ShardFilter } from "../views/shard-filter.ts";
import { ClaimIndex } from "./claim-index.ts";
import { NoteShelf } from "./note-shelf.ts";
import type { ShardBytes } from "./shard-bytes.ts";
import { ShardOrder } from "./shard-order.ts";
import type { ShardRow } from "./shard-row.ts";

/** A run with its shards, the indexes over them, and its notes. */
export class RunShelf {
  readonly #bytes: ShardBytes;
  readonly #rows = new Map<ShardId, ShardRow>();
  readonly #order: ShardOrder;
  readonly #counts: Record<ShardStatus, number> = { Active: 0, Done: 0, Split: 0, Parked: 0 };
  readonly claims = new ClaimIndex();
  readonly notes = new NoteShelf();
  run: RunRecord;
  version: number;

  constructor(run: RunRecord, version: number, bytes: ShardBytes) {
    this.run = run;
    this.version = version;
    this.#bytes = bytes;
    this.#order = new ShardOrder(bytes);
  }

  get shardCount(): number {
    return this.#rows.size;
  }

  row(shard: ShardId): ShardRow | undefined {
    return this.#rows.get(shard);
  }

  hasShardIn(statuses: readonly ShardStatus[]): boolean {
    return statuses.some((status) => this.#counts[status] > 0);
  }

  add(row: ShardRow): void {
    this.#rows.set(row.shard, row);
    this.#counts[row.status]++;
    this.#order.add(row);
    this.claims.place(row);
  }

  /** Gives a row its next state. Its changed bytes are packed already, and the ones that they replace released. */
  update(row: ShardRow, after: ShardRecord, version: number): void {
    const { status, lease } = row;
    row.adopt(after, version);
    if (status !== after.status) {
      this.#counts[status]--;
      this.#counts[after.status]++;
    }
    // Most writes are checkpoints, which change neither and leave the index alone.
    if (status !== after.status || lease !== after.lease) this.claims.place(row);
  }

  read(row: ShardRow): Versioned<ShardRecord> {
    return { record: row.toRecord(this.run, this.#bytes), version: row.version };
  }

  /** `read` with the shard's bytes in `scratch`. */
  readInto(row: ShardRow, scratch: AcquireScratch): Versioned<ShardRecord> {
    this.#bytes.copyInto(row, { slot: row.cursorSlot, keySize: row.keySize }, scratch);
    const borrowed = { spec: scratch.borrowSpec(), cursor: scratch.borrowCursor() };
    return { record: row.toRecordWith(this.run, borrowed), version: row.version };
  }

  list(query: ListShardsQuery): Page<ShardRecord, ShardPosition> {
    const rows = this.#order.rows();
    const items: ShardRecord[] = [];
    let index = query.after === undefined ? 0 : this.#order.indexAfter(query.after);
    for (; index < rows.length && items.length < query.limit; index++) {
      const row = rows[index]!;
      // A filter needs only the row, so bytes are copied only for records that pass it.
      if (ShardFilter.matches(query.filter, row, query.now)) items.push(row.toRecord(this.run, this.#bytes));
    }
    return { items, next: index < rows.length ? this.#order.positionOf(rows[index - 1]!) : undefined };
  }

  listPositions({ after, limit }: ListPositionsQuery): Page<ShardPosition, ShardPosition> {
    const rows = this.#order.rows();
    const from = after === undefined ? 0 : this.#order.indexAfter(after);
    const items = rows.slice(from, from + limit).map((row) => this.#order.positionOf(row));
    return { items, next: from + limit < rows.length ? items.at(-1) : undefined };
  }

  progress(now: LogicalTime): RunProgress {
    const { Active: active, Done: done, Split: split, Parked: parked } = this.#counts;
    let leased = 0;
    let watermark: Uint8Array | undefined;
    for (const row of this.#rows.values()) {
      if (row.status !== "Active") continue;
      if (row.isLeasedAt(now)) leased++;
      if (row.keySize > 0) watermark = leastKey(watermark, this.#bytes.view(row.cursorSlot).subarray(0, row.keySize));
    }
    return { total: this.#rows.size, active, done, split, parked, leased, watermark: watermark?.slice() };
  }

  /** Releases the bytes of every shard. The shelf must not be used after this. */
  releaseBytes(): void {
    for (const row of this.#rows.values()) {
      this.#bytes.release(row.slot);
      this.#bytes.release(row.cursorSlot);
    }
    this.#rows.clear();
  }
}
