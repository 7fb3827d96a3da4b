import type { CoordinationStore, Note, NoteWrite, RunRequest } from "@gossip/coordination";
import type { ShardId, WorkerId } from "@gossip/contracts";
import type { RunSample } from "../sample/run-sampler.ts";
import {
  HISTORY_END,
  HISTORY_SPACE,
  HISTORY_START,
  noteOfLeases,
  noteOfSteps,
  noteOfWriter,
  readNotes,
  type HistoryWriter,
  type RunFigures,
} from "./history-notes.ts";
import { LeaseLog, type LeaseEvent } from "./lease-log.ts";
import { Rollups } from "./rollups.ts";

export interface HistoryRecorderOptions {
  readonly store: Pick<CoordinationStore, "listNotes" | "commit">;
  readonly run: RunRequest;
  /** An id of this process, different from every other's. */
  readonly writer: string;
  /** How often notes are written; 5 s by default. */
  readonly flushMs?: number;
  /** Write nothing, and keep the history in memory only. */
  readonly isReadOnly?: boolean;
}

const FLUSH_MS = 5000;
/** A writer that has not written for this many intervals is gone. */
const PATIENCE = 4;
/** How many intervals longer a process waits that has not seen what the writer no longer wrote. */
const LATECOMER_PATIENCE = 2;
const MAX_NOTES = 200;

/** The history of a run as it is stored. */
export interface RunHistory {
  readonly rollups: Rollups;
  readonly leases: readonly LeaseEvent[];
  readonly isTruncated: boolean;
  readonly writer: HistoryWriter | undefined;
}

/**
 * Keeps the history of a run in its notes.
 *
 * One process writes at a time. The others see its entry and wait until it is old. All of it is advice: a failure to
 * write is ignored, and nothing waits for it.
 */
export class HistoryRecorder {
  readonly #options: HistoryRecorderOptions;
  readonly #flushMs: number;
  readonly #rollups = new Rollups();
  #leases = new LeaseLog();
  #figures: RunFigures = {};
  /** The bytes of this process's entry as writer. `undefined` while it does not write. */
  #entry: Uint8Array | undefined;
  /** When this process first looked at the run. */
  #sinceMs = Infinity;
  #nextFlushMs = 0;
  #isFlushing = false;

  constructor(options: HistoryRecorderOptions) {
    this.#options = options;
    this.#flushMs = options.flushMs ?? FLUSH_MS;
  }

  /** Whether this process writes the history. What it has is then newer than what is stored. */
  get isWriter(): boolean {
    return this.#entry !== undefined;
  }

  get history(): RunHistory {
    return {
      rollups: this.#rollups,
      leases: this.#leases.events,
      isTruncated: this.#leases.isTruncated,
      writer: undefined,
    };
  }

  add(sample: RunSample, figures: RunFigures = {}): void {
    const { sinceMs, atMs, newItems, newFailures, holders, heat, changes } = sample;
    this.#figures = figures;
    this.#sinceMs = Math.min(this.#sinceMs, atMs);
    for (const change of changes) this.#leases.add(change);
    // Nothing waits to be written.
    if (this.#options.isReadOnly === true) this.#leases.written();
    if (sinceMs === undefined) return;
    const [items, failures, workers] = [newItems, newFailures, holders.size];
    this.#rollups.add({ fromMs: sinceMs, toMs: atMs, items, failures, workers, heat });
  }

  /** Record that a worker whose lease was gone tried to write. */
  reject({ shard, worker, atMs }: { readonly shard: ShardId; readonly worker: WorkerId; readonly atMs: number }): void {
    this.#leases.add({ kind: "WriterRejected", shard, worker, atMs });
  }

  /** Write what is new, if it is time. Never rejects. */
  async flush(nowMs: number, { isLast = false }: { readonly isLast?: boolean } = {}): Promise<void> {
    if (this.#options.isReadOnly === true || this.#isFlushing || (nowMs < this.#nextFlushMs && !isLast)) return;
    this.#isFlushing = true;
    this.#nextFlushMs = nowMs + this.#flushMs;
    try {
      await this.#write(nowMs, isLast);
    } catch {
      // The store is not available. The next flush tries again.
      this.#entry = undefined;
    } finally {
      this.#isFlushing = false;
    }
  }

  async #write(nowMs: number, isLast: boolean): Promise<void> {
    const { store, run, writer } = this.#options;
    const guard = this.#entry ?? (await this.#takeTurn(nowMs));
    if (guard === undefined) return;
    const dirty = this.#rollups.takeDirty();
    // An entry that has ended lets the next process write at once.
    const untilMs = isLast ? nowMs : nowMs + PATIENCE * this.#flushMs;
    const entry = noteOfWriter({ writer, atMs: nowMs, untilMs, ...this.#figures });
    const notes: NoteWrite[] = [
      ...dirty.map((each) => noteOfSteps(this.#rollups, each)),
      ...this.#leases.dirtyNotes().map((note) => noteOfLeases(this.#leases, note)),
    ];
    const [answer] = await store.commit([{ kind: "WriteNotes", ...run, notes: [{ ...entry, guard }, ...notes] }]);
    if (answer?.kind === "Committed") {
      this.#entry = isLast ? undefined : entry.value;
      this.#leases.written();
      return;
    }
    // Another process writes, or the store failed. Find out with the next flush.
    this.#entry = undefined;
    this.#rollups.restoreDirty(dirty);
  }

  /**
   * Whether another process writes, or should. If the writer was killed, a process that has looked since then can write
   * without a gap, so one that has not waits longer.
   */
  #mustWait({ atMs, untilMs }: HistoryWriter, nowMs: number): boolean {
    const hasGap = untilMs > atMs && this.#sinceMs > atMs;
    return nowMs < untilMs + (hasGap ? LATECOMER_PATIENCE * this.#flushMs : 0);
  }

  /** What the entry of the writer must still be, if this process may write; and take over what is stored. */
  async #takeTurn(nowMs: number): Promise<Uint8Array | "absent" | undefined> {
    const notes = await listHistoryNotes(this.#options.store, this.#options.run);
    if (notes === undefined) return undefined;
    const { rollups, leases, writer } = readNotes(notes);
    if (writer !== undefined && writer.writer !== this.#options.writer && this.#mustWait(writer, nowMs))
      return undefined;
    const ownLeases = this.#leases.events;
    this.#rollups.addOlder(rollups);
    this.#leases = new LeaseLog();
    this.#leases.load(leases.first, leases.events);
    const last = leases.events.at(-1)?.atMs ?? 0;
    for (const event of ownLeases) if (event.atMs > last) this.#leases.add(event);
    return notes.find(isWriterNote)?.value ?? "absent";
  }
}

/** Read the history that is stored with a run. `undefined` if the store fails. */
export async function readHistory(
  store: Pick<CoordinationStore, "listNotes">,
  run: RunRequest,
): Promise<RunHistory | undefined> {
  const notes = await listHistoryNotes(store, run);
  if (notes === undefined) return undefined;
  const { rollups, leases, writer } = readNotes(notes);
  return { rollups, leases: leases.events, isTruncated: leases.first > 0, writer };
}

/**
 * A history that is stored, continued by what this process has seen since it was written: the process that wrote it may
 * be gone, or write only every few seconds. `stored` is used up.
 */
export function continueHistory({
  stored,
  seen,
}: {
  readonly stored: RunHistory;
  readonly seen: RunHistory;
}): RunHistory {
  stored.rollups.addNewer(seen.rollups);
  const last = stored.leases.at(-1)?.atMs ?? 0;
  return { ...stored, leases: [...stored.leases, ...seen.leases.filter(({ atMs }) => atMs > last)] };
}

async function listHistoryNotes(
  store: Pick<CoordinationStore, "listNotes">,
  { tenant, run }: RunRequest,
): Promise<readonly Note[] | undefined> {
  const found: Note[] = [];
  let start: Uint8Array | undefined = HISTORY_START;
  while (start !== undefined && found.length < MAX_NOTES) {
    const page: Awaited<ReturnType<typeof store.listNotes>> = await store.listNotes({
      tenant,
      run,
      space: HISTORY_SPACE,
      start,
      end: HISTORY_END,
      limit: 100,
    });
    if (!page.ok) return undefined;
    found.push(...page.value.items);
    start = page.value.next;
  }
  return found;
}

function isWriterNote({ key }: Note): boolean {
  return new TextDecoder().decode(key) === "history/writer";
}
