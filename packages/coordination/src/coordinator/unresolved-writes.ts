import type { RunId, ShardId, TenantId } from "@gossip/contracts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import { findOp, type LoggedOp, type OpLog } from "../records/op-log.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { RunRead, StoreVersion, Versioned } from "../store/store-reads.ts";
import type { ShardWrite } from "../store/write-set.ts";

/**
 * What the stored record shows about a write whose answer was lost.
 *
 * - `Open`      — nothing has been written since. It may still be committed.
 * - `Made`      — it was committed.
 * - `NotMade`   — it was not and never will be: the version that it rests on is gone.
 * - `Uncertain` — another write is stored, and this one may have been committed before it.
 */
export type Fate = "Open" | "Made" | "NotMade" | "Uncertain";

/** A run, or one of its shards. */
export interface RecordAddress {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly shard?: ShardId;
}

/** A lost write of a run. Without `after`, it was a removal. */
export interface RunWrite {
  readonly guard: StoreVersion | undefined;
  readonly before: RunRecord | undefined;
  readonly after: RunRecord | undefined;
}

/** The versions that a write rests on. */
interface GuardedWrite {
  readonly guard: StoreVersion | undefined;
}

interface Unresolved<Write> {
  readonly write: Write;
  readonly events: readonly CoordinationEvent[];
}

interface Remembered<Write> extends Unresolved<Write> {
  /** Value of `addedCount` when this write was added. */
  readonly number: number;
}

/** Maximum number of records with unresolved writes. A store that loses more answers than that has other problems. */
const MAX_RECORDS = 1024;

const NO_EVENTS: readonly CoordinationEvent[] = /* @__PURE__ */ Object.freeze([]);

/**
 * Writes whose answers were lost. Each is kept until the record that it changes is read again: only then its outcome is
 * known, and its events can be emitted.
 *
 * A write stays here after its operation gave up. The operation is often repeated later, and the repetition is a
 * replay, which emits no events.
 */
export class UnresolvedWrites<Write extends GuardedWrite, Found> {
  readonly #fateOf: (write: Write, found: Found) => Fate;
  readonly #records = new Map<string, Remembered<Write>[]>();
  #addedCount = 0;
  #uncertainEvents = 0;

  constructor(fateOf: (write: Write, found: Found) => Fate) {
    this.#fateOf = fateOf;
  }

  get isEmpty(): boolean {
    return this.#records.size === 0;
  }

  /**
   * Number of writes added so far. Take it before a read: the read says nothing about writes that are added after it.
   */
  get addedCount(): number {
    return this.#addedCount;
  }

  /** Number of events of writes whose outcome will never be known. */
  get uncertainEvents(): number {
    return this.#uncertainEvents;
  }

  add(address: RecordAddress, unresolved: Unresolved<Write>): void {
    const name = nameOf(address);
    const remembered = { ...unresolved, number: ++this.#addedCount };
    const writes = this.#records.get(name);
    if (writes !== undefined) {
      writes.push(remembered);
      return;
    }
    if (this.#records.size === MAX_RECORDS) this.#dropOldest();
    this.#records.set(name, [remembered]);
  }

  /**
   * Returns the events of writes that turn out to be committed, now that `found` is stored. Returns each event once.
   *
   * `found` must have been read after `addedCount` writes were added, and must not be a copy: a write that it does not
   * show is taken as not committed.
   */
  settle(
    address: RecordAddress,
    found: Found,
    { addedCount }: { readonly addedCount: number },
  ): readonly CoordinationEvent[] {
    // The common case. Building the name costs more than this check.
    if (this.#records.size === 0) return NO_EVENTS;
    const name = nameOf(address);
    const writes = this.#records.get(name) ?? [];
    const fates = new Map(
      writes.map((each) => [each, each.number > addedCount ? "Open" : this.#fateOf(each.write, found)]),
    );
    const withFate = (fate: Fate) => writes.filter((each) => fates.get(each) === fate);
    const made = oneOfEachGuard(withFate("Made"));
    const uncertain = oneOfEachGuard(withFate("Uncertain")).filter(({ write }) => !hasGuard(made, write));
    this.#uncertainEvents += countEvents(uncertain);
    this.#keep(name, withFate("Open"));
    return made.flatMap(({ events }) => events);
  }

  /**
   * Forgets the writes to a record that rest on a version: another write took that version, so none of them can be
   * committed.
   */
  forget(address: RecordAddress, guard: StoreVersion | undefined): void {
    if (this.#records.size === 0) return;
    const name = nameOf(address);
    const writes = this.#records.get(name) ?? [];
    this.#keep(
      name,
      writes.filter(({ write }) => write.guard !== guard),
    );
  }

  #keep(name: string, writes: Remembered<Write>[]): void {
    if (writes.length > 0) this.#records.set(name, writes);
    else this.#records.delete(name);
  }

  #dropOldest(): void {
    const [oldest] = this.#records;
    if (oldest === undefined) return;
    const [name, writes] = oldest;
    this.#records.delete(name);
    this.#uncertainEvents += countEvents(writes.slice(0, 1));
  }
}

/** At most one of the writes that rest on a version is committed: the others were attempts at the same. */
function oneOfEachGuard<Write extends GuardedWrite>(writes: readonly Unresolved<Write>[]): Unresolved<Write>[] {
  return writes.filter(({ write }, index) => !hasGuard(writes.slice(0, index), write));
}

function hasGuard(writes: readonly Unresolved<GuardedWrite>[], { guard }: GuardedWrite): boolean {
  return writes.some(({ write }) => write.guard === guard);
}

function countEvents(writes: readonly Unresolved<GuardedWrite>[]): number {
  return writes.reduce((sum, { events }) => sum + events.length, 0);
}

/** The outcome of a write of a shard. */
export function fateOfShardWrite(
  { guard, before, after }: ShardWrite,
  found: Versioned<ShardRecord> | undefined,
): Fate {
  if (found === undefined) return "Uncertain";
  if (found.version === guard) return "Open";
  const { record } = found;
  const entry = newEntryOf(before.opLog, after.opLog);
  if (entry !== undefined) return hasEntry(record.opLog, entry) && !isOtherAttempt(after, record) ? "Made" : "NotMade";
  // A fence is granted once: a lease with this fence comes from this acquire, or from another one that took its place.
  const isOfThisFence = after.fenceEpoch !== before.fenceEpoch && record.fenceEpoch === after.fenceEpoch;
  if (isOfThisFence && record.lease !== undefined) return record.lease.opId === after.lease?.opId ? "Made" : "NotMade";
  return isLike(after, record) ? "Made" : "Uncertain";
}

/** The outcome of a write of a run. */
export function fateOfRunWrite({ guard, before, after }: RunWrite, found: RunRead): Fate {
  if (found.kind === "Deleted") return after === undefined ? "Made" : "Uncertain";
  const version = found.kind === "Found" ? found.version : undefined;
  if (version === guard) return "Open";
  if (after === undefined) return "NotMade";
  const entry = newEntryOf(before?.opLog ?? [], after.opLog);
  // Without an op id, an existing run may be another caller's.
  if (found.kind === "Missing" || entry === undefined) return "Uncertain";
  return hasEntry(found.record.opLog, entry) ? "Made" : "NotMade";
}

function newEntryOf(before: OpLog<LoggedOp>, after: OpLog<LoggedOp>): LoggedOp | undefined {
  const entry = after.at(-1);
  return entry === before.at(-1) ? undefined : entry;
}

function hasEntry(log: OpLog<LoggedOp>, { opId, payloadHash, executedAt }: LoggedOp): boolean {
  const entry = findOp(log, opId);
  return entry?.payloadHash === payloadHash && entry.executedAt === executedAt;
}

/**
 * Whether the record was left by another attempt at the same checkpoint: one with renewal that was repeated without.
 * Their log entries are equal, and only the deadline differs.
 */
function isOtherAttempt(intended: ShardRecord, found: ShardRecord): boolean {
  const isNewest = found.opLog.at(-1)?.opId === intended.opLog.at(-1)?.opId && found.lastTime === intended.lastTime;
  return isNewest && found.lease?.deadline !== intended.lease?.deadline;
}

/** Whether a record is what an unlogged write would have left: a renewal, or a shard parked for its attempts. */
function isLike(intended: ShardRecord, found: ShardRecord): boolean {
  return (
    found.lastTime === intended.lastTime &&
    found.status === intended.status &&
    found.fenceEpoch === intended.fenceEpoch &&
    found.lease?.deadline === intended.lease?.deadline &&
    found.opLog.at(-1)?.opId === intended.opLog.at(-1)?.opId
  );
}

function nameOf({ tenant, run, shard }: RecordAddress): string {
  return shard === undefined ? `${tenant}/${run}` : `${tenant}/${run}/${shard}`;
}
