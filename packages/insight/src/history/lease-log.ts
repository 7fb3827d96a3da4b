import type { ShardId, WorkerId } from "@gossip/contracts";
import type { RunChange, RunChangeKind } from "../sample/run-change.ts";

/** What a lease timeline is drawn from. The codes are stored. Add to them, and never change one. */
const CODES: Readonly<Partial<Record<RunChangeKind, number>>> = {
  ShardAcquired: 1,
  ShardTakenOver: 2,
  ShardLost: 3,
  ShardCompleted: 4,
  ShardReleased: 5,
  ShardParked: 6,
  ShardSplit: 7,
  WriterRejected: 8,
};
const KINDS = new Map(Object.entries(CODES).map(([kind, code]) => [code, kind as RunChangeKind]));

export interface LeaseEvent {
  readonly atMs: number;
  readonly kind: RunChangeKind;
  readonly shard: ShardId;
  readonly worker: WorkerId | undefined;
}

export const EVENTS_PER_NOTE = 150;
export const LEASE_NOTES = 12;
/** More events between two writes are dropped: a display cannot show them, and notes must stay cheap. */
const MAX_UNWRITTEN = 2 * EVENTS_PER_NOTE;

/** The last lease events of a run, in a ring of notes. */
export class LeaseLog {
  #events: LeaseEvent[] = [];
  /** The number of the first event that is kept. */
  #first = 0;
  #unwritten = 0;
  #dropped = 0;

  get events(): readonly LeaseEvent[] {
    return this.#events;
  }

  /** Whether events are missing, because there were too many. */
  get isTruncated(): boolean {
    return this.#first > 0 || this.#dropped > 0;
  }

  add({ kind, atMs, shard, worker }: Pick<RunChange, "kind" | "atMs" | "shard" | "worker">): void {
    if (CODES[kind] === undefined) return;
    if (this.#unwritten >= MAX_UNWRITTEN) {
      this.#dropped++;
      return;
    }
    this.#unwritten++;
    this.#push({ kind, atMs, shard, worker });
  }

  /** Put events that were stored, with the number of the first. */
  load(first: number, events: readonly LeaseEvent[]): void {
    this.#events = [...events];
    this.#first = first;
    this.#unwritten = 0;
  }

  /** The notes that hold unwritten events, as numbers from 0 on. */
  dirtyNotes(): number[] {
    const next = this.#first + this.#events.length;
    const from = Math.floor((next - this.#unwritten) / EVENTS_PER_NOTE);
    const to = Math.floor((next - 1) / EVENTS_PER_NOTE);
    return this.#unwritten === 0 ? [] : Array.from({ length: to - from + 1 }, (_, index) => from + index);
  }

  written(): void {
    this.#unwritten = 0;
  }

  /** The events of a note as JSON. */
  encodeNote(note: number): object {
    const start = Math.max(0, note * EVENTS_PER_NOTE - this.#first);
    const events = this.#events.slice(start, (note + 1) * EVENTS_PER_NOTE - this.#first);
    return {
      version: 1,
      first: this.#first + start,
      events: events.map(({ atMs, kind, shard, worker }) => [
        atMs,
        CODES[kind],
        shard.toString(16),
        worker === undefined ? "" : worker.toString(16),
      ]),
    };
  }

  #push(event: LeaseEvent): void {
    this.#events.push(event);
    const most = EVENTS_PER_NOTE * (LEASE_NOTES - 1);
    if (this.#events.length <= most + EVENTS_PER_NOTE) return;
    this.#first += this.#events.length - most;
    this.#events = this.#events.slice(-most);
  }
}

/** Reads a note of the log. `undefined` if it has another form. */
export function decodeLeaseNote(
  json: unknown,
): { readonly first: number; readonly events: readonly LeaseEvent[] } | undefined {
  const { version, first, events } = (json ?? {}) as Record<string, unknown>;
  if (version !== 1 || !Number.isSafeInteger(first) || !Array.isArray(events)) return undefined;
  const read: LeaseEvent[] = [];
  for (const entry of events as unknown[]) {
    if (!Array.isArray(entry)) return undefined;
    const [atMs, code, shard, worker] = entry as unknown[];
    const kind = KINDS.get(code as number);
    if (typeof atMs !== "number" || !isHex(shard) || !(worker === "" || isHex(worker))) return undefined;
    if (kind === undefined) continue;
    const owner = worker === "" ? undefined : (BigInt(`0x${worker}`) as WorkerId);
    read.push({ atMs, kind, shard: BigInt(`0x${shard}`) as ShardId, worker: owner });
  }
  return { first: first as number, events: read };
}

function isHex(text: unknown): text is string {
  return typeof text === "string" && /^[0-9a-f]{1,16}$/.test(text);
}
