import type { RunId, ShardId, TenantId } from "@gossip/contracts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import { findOp, type LoggedOp, type OpLog } from "../records/op-log.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { RunRead, StoreVersion, Versioned } from "../store/store-reads.ts";
import type { ShardWrite } from "../store/write-set.ts";

/**
 * What can be told of a write whose answer was lost, from what is stored now.
 *
 * - `Open`      — nothing has been written since. It may still be made.
 * - `Made`      — it is there.
 * - `NotMade`   — it is not there and never will be: what it rested on has changed.
 * - `Uncertain` — something else is there, and it may have been made before that.
 */
export type Fate = "Open" | "Made" | "NotMade" | "Uncertain";

/** A run, or one of its shards. */
export interface Place {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly shard?: ShardId;
}

/** What a lost write of a run was to make of it; without `after` it was to be removed. */
export interface RunWrite {
  readonly guard: StoreVersion | undefined;
  readonly before: RunRecord | undefined;
  readonly after: RunRecord | undefined;
}

/** What every write rests on. */
interface GuardedWrite {
  readonly guard: StoreVersion | undefined;
}

interface Unresolved<Write> {
  readonly write: Write;
  readonly events: readonly CoordinationEvent[];
}

interface Remembered<Write> extends Unresolved<Write> {
  /** How many had been added when it was. */
  readonly number: number;
}

/** At most this many places are remembered. A store that loses more answers than that has other troubles. */
const MAX_PLACES = 1024;

const NO_EVENTS: readonly CoordinationEvent[] = /* @__PURE__ */ Object.freeze([]);

/**
 * Writes whose answers were lost, each kept until somebody reads the record that it was to
 * change: only then can be told what became of it, and its events with it.
 *
 * It outlives the operation that made the write. One that gave up is often repeated later, and its
 * repetition is a replay, which tells nobody anything.
 */
export class UnresolvedWrites<Write extends GuardedWrite, Found> {
  readonly #fateOf: (write: Write, found: Found) => Fate;
  readonly #places = new Map<string, Remembered<Write>[]>();
  #addedCount = 0;
  #uncertainEvents = 0;

  constructor(fateOf: (write: Write, found: Found) => Fate) {
    this.#fateOf = fateOf;
  }

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  /** How many have been added. Take it before a read: what was added after it, the read says nothing about. */
  get addedCount(): number {
    return this.#addedCount;
  }

  /** How many events belong to writes of which nobody will ever know whether they were made. */
  get uncertainEvents(): number {
    return this.#uncertainEvents;
  }

  add(place: Place, unresolved: Unresolved<Write>): void {
    const name = nameOf(place);
    const remembered = { ...unresolved, number: ++this.#addedCount };
    const writes = this.#places.get(name);
    if (writes !== undefined) {
      writes.push(remembered);
      return;
    }
    if (this.#places.size === MAX_PLACES) this.#dropOldest();
    this.#places.set(name, [remembered]);
  }

  /**
   * The events of what turns out to have been made, now that `found` is what is stored. Each is given once.
   *
   * `found` must have been read after `addedCount` writes had been added, and not be a copy: what it lacks is taken
   * for never to come.
   */
  settle(place: Place, found: Found, { addedCount }: { readonly addedCount: number }): readonly CoordinationEvent[] {
    // Nearly always: a name costs more than the question.
    if (this.#places.size === 0) return NO_EVENTS;
    const name = nameOf(place);
    const writes = this.#places.get(name) ?? [];
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

  /** Forget the writes to a place that rest on a version: another was made of it, so none of them can be. */
  forget(place: Place, guard: StoreVersion | undefined): void {
    if (this.#places.size === 0) return;
    const name = nameOf(place);
    const writes = this.#places.get(name) ?? [];
    this.#keep(
      name,
      writes.filter(({ write }) => write.guard !== guard),
    );
  }

  #keep(name: string, writes: Remembered<Write>[]): void {
    if (writes.length > 0) this.#places.set(name, writes);
    else this.#places.delete(name);
  }

  #dropOldest(): void {
    const [oldest] = this.#places;
    if (oldest === undefined) return;
    const [name, writes] = oldest;
    this.#places.delete(name);
    this.#uncertainEvents += countEvents(writes.slice(0, 1));
  }
}

/** Of writes that rest on one version one is made at most: the others were attempts at the same. */
function oneOfEachGuard<Write extends GuardedWrite>(writes: readonly Unresolved<Write>[]): Unresolved<Write>[] {
  return writes.filter(({ write }, index) => !hasGuard(writes.slice(0, index), write));
}

function hasGuard(writes: readonly Unresolved<GuardedWrite>[], { guard }: GuardedWrite): boolean {
  return writes.some(({ write }) => write.guard === guard);
}

function countEvents(writes: readonly Unresolved<GuardedWrite>[]): number {
  return writes.reduce((sum, { events }) => sum + events.length, 0);
}

/** What became of a write of a shard. */
export function fateOfShardWrite(
  { guard, before, after }: ShardWrite,
  found: Versioned<ShardRecord> | undefined,
): Fate {
  if (found === undefined) return "Uncertain";
  if (found.version === guard) return "Open";
  const { record } = found;
  const entry = newEntryOf(before.opLog, after.opLog);
  if (entry !== undefined) return hasEntry(record.opLog, entry) && !isOtherAttempt(after, record) ? "Made" : "NotMade";
  // A fence is given out once: whoever holds by this one has it from this acquire, or from another in its place.
  const isOfThisFence = after.fenceEpoch !== before.fenceEpoch && record.fenceEpoch === after.fenceEpoch;
  if (isOfThisFence && record.lease !== undefined) return record.lease.opId === after.lease?.opId ? "Made" : "NotMade";
  return isLike(after, record) ? "Made" : "Uncertain";
}

/** What became of a write of a run. */
export function fateOfRunWrite({ guard, before, after }: RunWrite, found: RunRead): Fate {
  if (found.kind === "Deleted") return after === undefined ? "Made" : "Uncertain";
  const version = found.kind === "Found" ? found.version : undefined;
  if (version === guard) return "Open";
  if (after === undefined) return "NotMade";
  const entry = newEntryOf(before?.opLog ?? [], after.opLog);
  // Without an op id, a run that is there may be anybody's.
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
 * Whether what is there was left by another attempt at the same: one of a checkpoint that was to renew, and was
 * repeated without. Their entries are alike, and only the deadline tells them apart.
 */
function isOtherAttempt(intended: ShardRecord, found: ShardRecord): boolean {
  const isNewest = found.opLog.at(-1)?.opId === intended.opLog.at(-1)?.opId && found.lastTime === intended.lastTime;
  return isNewest && found.lease?.deadline !== intended.lease?.deadline;
}

/** Whether a record is the one that a write would have left which is in no log: a renewal, or a shard parked for its attempts. */
function isLike(intended: ShardRecord, found: ShardRecord): boolean {
  return (
    found.lastTime === intended.lastTime &&
    found.status === intended.status &&
    found.fenceEpoch === intended.fenceEpoch &&
    found.lease?.deadline === intended.lease?.deadline &&
    found.opLog.at(-1)?.opId === intended.opLog.at(-1)?.opId
  );
}

function nameOf({ tenant, run, shard }: Place): string {
  return shard === undefined ? `${tenant}/${run}` : `${tenant}/${run}/${shard}`;
}
