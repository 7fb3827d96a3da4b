import type { RunId, ShardLimitScope, TenantId } from "@gossip/contracts";
import { assertNoteWrites } from "../records/note.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { CommitAnswer, OverdrawnLimit } from "../store/commit-answer.ts";
import type {
  PutRunSet,
  RemoveRunSet,
  ShardLimits,
  ShardWrite,
  SplitShardSet,
  UpdateShardSet,
  WriteNotesSet,
  WriteSet,
} from "../store/write-set.ts";
import { RunShelf } from "./run-shelf.ts";
import type { PackedCursor, PackedSpec, ShardBytes } from "./shard-bytes.ts";
import { ShardRow } from "./shard-row.ts";
import { DELETED, type TenantShelf } from "./tenant-shelf.ts";

const CONFLICT: CommitAnswer = /* @__PURE__ */ Object.freeze({ kind: "Conflict" });

/** The bytes of a shard, packed. A part that is `undefined` has not changed. */
interface PackedShard {
  readonly spec: PackedSpec | undefined;
  readonly cursor: PackedCursor | undefined;
}

/**
 * Commits write sets in memory.
 *
 * Each takes the same steps: check its guards; pack the bytes, which is the only step that can fail, and release them if
 * it does; then change the rows, which cannot fail.
 */
export class MemoryCommit {
  readonly #tenants: Map<TenantId, TenantShelf>;
  readonly #bytes: ShardBytes;
  #shardCount = 0;
  // One counter for all records: no version occurs twice.
  #lastVersion = 0;

  constructor(tenants: Map<TenantId, TenantShelf>, bytes: ShardBytes) {
    this.#tenants = tenants;
    this.#bytes = bytes;
  }

  get shardCount(): number {
    return this.#shardCount;
  }

  apply(set: WriteSet): CommitAnswer {
    switch (set.kind) {
      case "UpdateShard":
        return this.#updateShard(set);
      case "SplitShard":
        return this.#splitShard(set);
      case "PutRun":
        return this.#putRun(set);
      case "RemoveRun":
        return this.#removeRun(set);
      case "WriteNotes":
        return this.#writeNotes(set);
    }
  }

  #updateShard({ tenant, run, shard, runGuard, hintAt, notes }: UpdateShardSet): CommitAnswer {
    const shelf = this.#shelf(tenant, run);
    const row = shelf?.row(shard.after.shard);
    if (shelf === undefined || row === undefined || row.version !== shard.guard) return CONFLICT;
    if (runGuard !== undefined && shelf.version !== runGuard) return CONFLICT;
    if (notes !== undefined) assertNoteWrites(notes);

    const packed = this.#packChanges(shard);
    if (packed === undefined) return this.#exhausted();
    this.#update(shelf, row, shard, packed);
    if (notes !== undefined) shelf.notes.write(notes);
    const hint = hintAt === undefined ? undefined : shelf.claims.hint(hintAt);
    return { kind: "Committed", version: row.version, hint };
  }

  #splitShard({ tenant, run, shard, runGuard, created, limits }: SplitShardSet): CommitAnswer {
    const shelf = this.#shelf(tenant, run);
    const row = shelf?.row(shard.after.shard);
    if (shelf === undefined || row === undefined || row.version !== shard.guard || shelf.version !== runGuard)
      return CONFLICT;
    const overdrawn = this.#overdraws(this.#tenants.get(tenant), created.length, limits);
    if (overdrawn !== undefined) return { kind: "LimitExceeded", ...overdrawn };
    const taken = created.find((child) => shelf.row(child.shard) !== undefined);
    if (taken !== undefined) return { kind: "Exists", shard: taken.shard };

    const rows = this.#packRows(created);
    if (rows === undefined) return this.#exhausted();
    const packed = this.#packChanges(shard);
    if (packed === undefined) {
      rows.forEach((child) => this.#release(child));
      return this.#exhausted();
    }
    this.#addRows(shelf, rows);
    this.#update(shelf, row, shard, packed);
    return { kind: "Committed", version: row.version };
  }

  #putRun({ tenant, run, guard, after, created, limits, noShardsIn }: PutRunSet): CommitAnswer {
    const tenantShelf = this.#tenants.get(tenant);
    const found = tenantShelf?.runs.get(run);
    const version = found === DELETED ? DELETED : found?.version;
    if (version !== guard) return CONFLICT;
    const shelf = found === DELETED ? undefined : found;
    if (shelf?.hasShardIn(noShardsIn) === true) return CONFLICT;
    const overdrawn = this.#overdraws(tenantShelf, created.length, limits);
    if (overdrawn !== undefined) return { kind: "LimitExceeded", ...overdrawn };
    const taken = created.find((shard) => shelf?.row(shard.shard) !== undefined);
    if (taken !== undefined) return { kind: "Exists", shard: taken.shard };

    const rows = this.#packRows(created);
    if (rows === undefined) return this.#exhausted();
    const written = shelf ?? this.#addShelf(after);
    written.run = after;
    written.version = ++this.#lastVersion;
    this.#addRows(written, rows);
    return { kind: "Committed", version: written.version };
  }

  #removeRun({ tenant, run, guard }: RemoveRunSet): CommitAnswer {
    const shelf = this.#shelf(tenant, run);
    if (shelf === undefined || shelf.version !== guard) return CONFLICT;
    const tenantShelf = this.#tenants.get(tenant)!;
    tenantShelf.shardCount -= shelf.shardCount;
    this.#shardCount -= shelf.shardCount;
    shelf.releaseBytes();
    tenantShelf.runs.set(run, DELETED);
    return { kind: "Committed", version: ++this.#lastVersion };
  }

  #writeNotes({ tenant, run, notes }: WriteNotesSet): CommitAnswer {
    assertNoteWrites(notes);
    const shelf = this.#shelf(tenant, run);
    if (shelf === undefined || !shelf.notes.areGuardsHeld(notes)) return CONFLICT;
    shelf.notes.write(notes);
    return { kind: "Committed", version: ++this.#lastVersion };
  }

  #shelf(tenant: TenantId, run: RunId): RunShelf | undefined {
    const shelf = this.#tenants.get(tenant)?.runs.get(run);
    return shelf === DELETED ? undefined : shelf;
  }

  #addShelf(run: RunShelf["run"]): RunShelf {
    const shelf = new RunShelf(run, 0, this.#bytes);
    let tenantShelf = this.#tenants.get(run.tenant);
    if (tenantShelf === undefined) {
      tenantShelf = { runs: new Map(), shardCount: 0 };
      this.#tenants.set(run.tenant, tenantShelf);
    }
    tenantShelf.runs.set(run.run, shelf);
    return shelf;
  }

  #addRows(shelf: RunShelf, rows: readonly ShardRow[]): void {
    for (const row of rows) shelf.add(row);
    this.#tenants.get(shelf.run.tenant)!.shardCount += rows.length;
    this.#shardCount += rows.length;
  }

  #update(shelf: RunShelf, row: ShardRow, { after }: ShardWrite, packed: PackedShard): void {
    if (packed.spec !== undefined) {
      this.#bytes.release(row.slot);
      row.adoptSpec(packed.spec);
    }
    if (packed.cursor !== undefined) {
      this.#bytes.release(row.cursorSlot);
      row.adoptCursor(packed.cursor);
    }
    shelf.update(row, after, ++this.#lastVersion);
  }

  #overdraws(tenant: TenantShelf | undefined, additional: number, limits: ShardLimits): OverdrawnLimit | undefined {
    const quota = (scope: ShardLimitScope, current: number, max: number) =>
      current + additional > max && additional > 0 ? { scope, current, additional, max } : undefined;
    return (
      quota("PerTenant", tenant?.shardCount ?? 0, limits.maxShardsPerTenant) ??
      quota("Global", this.#shardCount, limits.maxShardsTotal)
    );
  }

  /** Packs what a write changes. Without room for it, returns `undefined` and changes nothing. */
  #packChanges({ before, after }: ShardWrite): PackedShard | undefined {
    const hasNewSpec = after.spec !== before.spec;
    const hasNewCursor = after.cursor !== before.cursor;
    const spec = hasNewSpec ? this.#bytes.packSpec(after.spec) : undefined;
    if (hasNewSpec && spec === undefined) return undefined;
    const cursor = hasNewCursor ? this.#bytes.packCursor(after.cursor) : undefined;
    if (hasNewCursor && cursor === undefined) {
      if (spec !== undefined) this.#bytes.release(spec.slot);
      return undefined;
    }
    return { spec, cursor };
  }

  /** Packs new shards. Without room for all of them, returns `undefined` and changes nothing. */
  #packRows(records: readonly ShardRecord[]): ShardRow[] | undefined {
    const rows: ShardRow[] = [];
    for (const record of records) {
      const spec = this.#bytes.packSpec(record.spec);
      const cursor = spec && this.#bytes.packCursor(record.cursor);
      if (spec === undefined || cursor === undefined) {
        if (spec !== undefined) this.#bytes.release(spec.slot);
        rows.forEach((row) => this.#release(row));
        return undefined;
      }
      rows.push(new ShardRow(record, spec, cursor, ++this.#lastVersion));
    }
    return rows;
  }

  #release(row: ShardRow): void {
    this.#bytes.release(row.slot);
    this.#bytes.release(row.cursorSlot);
  }

  /** The answer for a write that had no room. Called after its bytes were released. */
  #exhausted(): CommitAnswer {
    return { kind: "Exhausted", resource: "shard_slab", slab: this.#bytes.lastRefusal() };
  }
}
