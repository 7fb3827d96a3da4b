import type { RunId, TenantId } from "@gossip/contracts";
import type { InfraError } from "@gossip/coordination-errors";
import { fsck, type FsckSource, type StoreView } from "@gossip/coordination-fsck";
import { ok, type Result } from "@gossip/stdx";
import type { PendingTasks, RunAddress } from "@gossip/store-kit";
import { rangeOf, type KeyRange, type Rows } from "../engine/rows.ts";
import { listAddresses } from "../inspect/inspected-rows.ts";
import { SnapshotEntries } from "../inspect/snapshot-entries.ts";
import { addressOf, keyAfter, RowKind, runKey, RUN_KEY_SIZE } from "../layout/keyspace.ts";
import { plus, readCounts, storedCount, writeCounts } from "../write/counts.ts";
import { isCounted } from "../write/status-counts.ts";
import { SWEEP_SIZE, sweepRows } from "../write/sweep.ts";
import { copyRow, decodeFrame, encodeFrame, type FrameRow } from "./row-frame.ts";

/** Which runs to transfer. */
export type IncludesRun = (tenant: TenantId, run: RunId) => boolean;

/** Rows of which a run has one, in the order in which they are sent. */
const SINGLE_KINDS = [RowKind.RunHead, RowKind.RunRecord, RowKind.RunCount, RowKind.Starved, RowKind.Census] as const;
const MANY_KINDS = [
  RowKind.StatusCount,
  RowKind.ShardRecord,
  RowKind.Claim,
  RowKind.Status,
  RowKind.Order,
  RowKind.Note,
] as const;
const SENT_KINDS: ReadonlySet<number> = new Set([...SINGLE_KINDS, RowKind.DeletedRun, ...MANY_KINDS]);
/** Rows that are removed last: by them, a removal that was interrupted finds what is left. */
const LAST_KINDS = [...SINGLE_KINDS, RowKind.DeletedRun, RowKind.Unswept] as const;

/** A frame is sent when it has at least this many bytes or rows. */
const FRAME_BYTES = 256 * 1024;
const FRAME_ROWS = 2_000;
/** Rows that are read at once. */
const READ_ROWS = 500;

export interface RunTransferParts {
  readonly rows: Rows;
  readonly pending: PendingTasks;
  readonly source: FsckSource;
  /** Runs a write, and returns why it failed. */
  readonly write: (work: () => void) => Promise<Result<void, InfraError>>;
}

/**
 * Copies runs to the store of another node and removes them here, row by row: records with their op logs and versions,
 * notes, counts, indexes, and the marks of removed runs.
 *
 * The caller makes sure that no other operation touches these runs meanwhile.
 */
export class RunTransfer {
  readonly #parts: RunTransferParts;

  /** @internal */
  constructor(parts: RunTransferParts) {
    this.#parts = parts;
  }

  /** The runs as frames of bytes. The same runs give the same frames every time. */
  *frames(includes: IncludesRun): Generator<Uint8Array, void> {
    const { rows, pending } = this.#parts;
    const entries = new SnapshotEntries(rows, pending);
    try {
      let frame: FrameRow[] = [];
      let size = 0;
      for (const row of rowsOf(entries, includes)) {
        frame.push(row);
        size += row.key.length + row.value.length;
        if (size < FRAME_BYTES && frame.length < FRAME_ROWS) continue;
        yield encodeFrame(frame);
        frame = [];
        size = 0;
      }
      if (frame.length > 0) yield encodeFrame(frame);
    } finally {
      entries.close();
    }
  }

  /** Write the rows of a frame, durably. Writing it again changes nothing. Returns `false` if it is not a frame of such runs. */
  async stage(frame: Uint8Array, includes: IncludesRun): Promise<Result<boolean, InfraError>> {
    const { rows, write } = this.#parts;
    const staged = decodeFrame(frame);
    if (staged === undefined || !staged.every(({ key }) => isOf(key, includes))) return ok(false);
    const written = await write(() => {
      for (const { key, version, value } of staged) {
        if (key[0] === RowKind.RunCount) countAs(rows, addressOf(key), storedCount(value));
        // Where an older version may write, the shards of the run are counted when its status is read.
        else if (key[0] !== RowKind.StatusCount || isCounted(rows)) rows.put(key, value, version);
      }
    });
    return written.ok ? ok(true) : written;
  }

  /** Remove everything of the runs, a few thousand rows at a time. Returns `false` if `isStopped` ended it. */
  async purge(includes: IncludesRun, isStopped: () => boolean = () => false): Promise<Result<boolean, InfraError>> {
    const { rows, write } = this.#parts;
    for (const address of this.#addresses(includes)) {
      for (let isLeft = true; isLeft;) {
        if (isStopped()) return ok(false);
        const removed = await write(() => {
          isLeft = !sweepRows(rows, address, SWEEP_SIZE);
          if (isLeft) return;
          countAs(rows, address, 0);
          for (const kind of LAST_KINDS) rows.remove(runKey(kind, address));
        });
        if (!removed.ok) return removed;
      }
    }
    return ok(true);
  }

  /** How many faults fsck finds in the runs. */
  async check(includes: IncludesRun): Promise<Result<number, InfraError>> {
    const report = await fsck(limitedTo(this.#parts.source, includes));
    return report.ok ? ok(report.value.findings.length) : report;
  }

  #addresses(includes: IncludesRun): readonly RunAddress[] {
    const entries = new SnapshotEntries(this.#parts.rows, this.#parts.pending);
    try {
      return listAddresses(entries).filter(({ tenant, run }) => includes(tenant, run));
    } finally {
      entries.close();
    }
  }
}

function* rowsOf(entries: SnapshotEntries, includes: IncludesRun): Generator<FrameRow, void> {
  for (const address of listAddresses(entries)) {
    if (!includes(address.tenant, address.run)) continue;
    // Of a removed run only the mark is left. What is still to be swept stays behind.
    const mark = [...entries.of(rangeOf(runKey(RowKind.DeletedRun, address)))].map(copyRow);
    if (mark.length > 0) {
      yield* mark;
      continue;
    }
    for (const kind of [...SINGLE_KINDS, ...MANY_KINDS]) yield* rowsIn(entries, rangeOf(runKey(kind, address)));
  }
}

/** Rows of a range. Some are read at once, and a caller may wait in between. */
function* rowsIn(entries: SnapshotEntries, { start, end }: KeyRange): Generator<FrameRow, void> {
  for (let from = start; ;) {
    const rows: FrameRow[] = [];
    for (const entry of entries.of({ start: from, end })) {
      rows.push(copyRow(entry));
      if (rows.length === READ_ROWS) break;
    }
    yield* rows;
    if (rows.length < READ_ROWS) return;
    from = keyAfter(rows.at(-1)!.key);
  }
}

/** Set the number of a run's shards, and those of its tenant and of the store with it. */
function countAs(rows: Rows, address: RunAddress, count: number): void {
  const counts = readCounts(rows, address);
  writeCounts(rows, address, plus(counts, count - counts.run));
}

function isOf(key: Buffer, includes: IncludesRun): boolean {
  if (key.length < RUN_KEY_SIZE || !SENT_KINDS.has(key[0]!)) return false;
  const { tenant, run } = addressOf(key);
  return includes(tenant, run);
}

/** The same store with some of its runs only. Counts of tenants and of the store include others, so they are left out. */
function limitedTo(source: FsckSource, includes: IncludesRun): FsckSource {
  return {
    rebuildIndexes: () => source.rebuildIndexes(),
    explain: (thrown) => source.explain(thrown),
    async look(): Promise<StoreView> {
      const view = await source.look();
      return {
        countScopes: new Set(["Run" as const]),
        async *runs() {
          for await (const run of view.runs()) if (includes(run.tenant, run.run)) yield run;
        },
        async *counts() {
          for await (const count of view.counts()) {
            const { scope, tenant, run } = count;
            if (scope === "Run" && tenant !== undefined && run !== undefined && includes(tenant, run)) yield count;
          }
        },
        close: () => view.close(),
      };
    },
  };
}
