import type { LogicalTime } from "@gossip/contracts";
import { isGoodAt, type RunCapacity } from "./run-capacity.ts";

/** Maximum age of the read behind a checkpoint's hint, from when the read was sent to when the checkpoint is sent. */
export const KNOWN_FOR_MS = 5;

/** Maximum number of runs with a cached capacity. */
const MAX_KNOWN = 1024;

/** The earliest and the latest of some times, inclusive. */
export interface TimeSpan {
  readonly from: LogicalTime;
  readonly to: LogicalTime;
}

/** A read that is about to be sent. Its result may be cached unless this store writes to the run meanwhile. */
export interface ExpectedLook {
  readonly path: string;
  readonly chapter: Chapter;
  readonly sentMs: number;
}

/** A period in which this store wrote nothing that changes the run's capacity. */
interface Chapter {
  known: { readonly capacity: RunCapacity; readonly sentMs: number } | undefined;
}

/**
 * Caches the capacities of runs, by path, for writes that change none.
 *
 * A checkpoint that does not renew its lease, like nearly all of the runtime's, changes nothing that can be claimed,
 * and still returns a hint. The hint is advisory and stale on arrival, so one read serves for some milliseconds.
 * Without this a checkpoint takes up to 1.23x as long at one session, and 1.10x at 64.
 *
 * Writes of other processes may show up that much later. Writes of this store show up at once: while one that may
 * change a capacity is in flight, the run has no cached capacity, and results of reads sent before it ended are
 * dropped. (A write with an unknown outcome may take effect after it returned. It then counts as another process's.)
 */
export class KnownCapacities {
  readonly #monotonicMs: () => number;
  readonly #chapters = new Map<string, Chapter>();
  /** Number of writes in flight that may change a run's capacity, for runs that have any. */
  readonly #changes = new Map<string, number>();

  /** `monotonicMs` is a clock that never goes back. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** The cached capacity of a run, if it is fresh and valid at all of these times. */
  of(path: string, { from, to }: TimeSpan): RunCapacity | undefined {
    const known = this.#chapters.get(path)?.known;
    if (known === undefined || this.#monotonicMs() - known.sentMs > KNOWN_FOR_MS) return undefined;
    return isGoodAt(known.capacity, from) && isGoodAt(known.capacity, to) ? known.capacity : undefined;
  }

  /**
   * Call this before sending a read. Returns `undefined` while a write is in flight, when the result must not be
   * cached.
   */
  expect(path: string): ExpectedLook | undefined {
    if (this.#changes.has(path)) return undefined;
    let chapter = this.#chapters.get(path);
    if (chapter === undefined) {
      if (this.#chapters.size >= MAX_KNOWN) this.#chapters.clear();
      chapter = { known: undefined };
      this.#chapters.set(path, chapter);
    }
    return { path, chapter, sentMs: this.#monotonicMs() };
  }

  /** Caches the result of a read, unless this store wrote to the run meanwhile or a later read is already cached. */
  learn({ path, chapter, sentMs }: ExpectedLook, capacity: RunCapacity): void {
    if (this.#chapters.get(path) !== chapter) return;
    if (chapter.known === undefined || chapter.known.sentMs <= sentMs) chapter.known = { capacity, sentMs };
  }

  /** Runs a write that may change the capacities of these runs. */
  async changing<T>(paths: Iterable<string>, write: () => Promise<T>): Promise<T> {
    const changed = new Set(paths);
    for (const path of changed) {
      this.#changes.set(path, (this.#changes.get(path) ?? 0) + 1);
      this.#chapters.delete(path);
    }
    try {
      return await write();
    } finally {
      for (const path of changed) {
        const others = this.#changes.get(path)! - 1;
        if (others === 0) this.#changes.delete(path);
        else this.#changes.set(path, others);
      }
    }
  }

  /** Runs a write that may change the capacity of any run. */
  async changingAll<T>(write: () => Promise<T>): Promise<T> {
    this.#chapters.clear();
    try {
      return await write();
    } finally {
      this.#chapters.clear();
    }
  }
}
