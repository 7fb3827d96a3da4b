import type { LogicalTime } from "@gossip/contracts";
import { isGoodAt, type RunCapacity } from "./run-capacity.ts";

/** How long ago the look may have been sent that a checkpoint's hint comes from, when the checkpoint is. */
export const KNOWN_FOR_MS = 5;

/** Most runs whose capacity is remembered. */
const MAX_KNOWN = 1024;

/** The earliest and the latest of some times, both of them meant. */
export interface TimeSpan {
  readonly from: LogicalTime;
  readonly to: LogicalTime;
}

/** A look at a run that is about to be sent: what it tells may be remembered, if nothing of ours comes between. */
export interface ExpectedLook {
  readonly path: string;
  readonly chapter: Chapter;
  readonly sentMs: number;
}

/** A time in which this store has written nothing that changes a run's capacity. */
interface Chapter {
  known: { readonly capacity: RunCapacity; readonly sentMs: number } | undefined;
}

/**
 * The capacities of runs, by their paths, for writes that change none.
 *
 * A checkpoint that does not renew, as nearly all of the runtime's are, moves nothing among what can be claimed, and still returns
 * a hint. The hint is advice and old when it arrives, so one look serves for some milliseconds. Without this a checkpoint takes up
 * to 1.23x as long at one session, and 1.10x at 64.
 *
 * Writes of other processes may show that much later. Writes of this store show at once: while one that may change a capacity is
 * in flight nothing is known of its run, and what was known before, or asked for before it ended, is forgotten. (A write with an
 * unknown outcome may be made after it has ended here. It is then like another process's.)
 */
export class KnownCapacities {
  readonly #monotonicMs: () => number;
  readonly #chapters = new Map<string, Chapter>();
  /** How many writes are under way that may change a run's capacity, where there are any. */
  readonly #changes = new Map<string, number>();

  /** `monotonicMs`: a clock that never goes back. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** A run's capacity, where what is known of it is new enough and good at all of these times. */
  of(path: string, { from, to }: TimeSpan): RunCapacity | undefined {
    const known = this.#chapters.get(path)?.known;
    if (known === undefined || this.#monotonicMs() - known.sentMs > KNOWN_FOR_MS) return undefined;
    return isGoodAt(known.capacity, from) && isGoodAt(known.capacity, to) ? known.capacity : undefined;
  }

  /** To be called before a look is sent. `undefined` where it can tell nothing that will still be true. */
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

  /** Remember what a look told, unless something of ours came between or a later one has told more. */
  learn({ path, chapter, sentMs }: ExpectedLook, capacity: RunCapacity): void {
    if (this.#chapters.get(path) !== chapter) return;
    if (chapter.known === undefined || chapter.known.sentMs <= sentMs) chapter.known = { capacity, sentMs };
  }

  /** Make a write that may change the capacities of these runs. */
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

  /** Make something that may change the capacities of all runs. */
  async changingAll<T>(write: () => Promise<T>): Promise<T> {
    this.#chapters.clear();
    try {
      return await write();
    } finally {
      this.#chapters.clear();
    }
  }
}
