import type { Owned, Unknown } from "../route/routing.ts";
import { startsWith } from "@gossip/stdx";
import type { ScopeIndex } from "../find/scope-index.ts";
import { prefixBytes } from "../table/scope.ts";

/** Counts operations. One object per scope, shared by its admissions. */
interface Counter {
  count: number;
}

/** The operations admitted while one set of prefixes was in force. */
interface Generation {
  /** The first index with these prefixes: only its prefixes are used. */
  readonly index: ScopeIndex;
  /** By the position of the scope; of keys that no scope covered, by `NO_PREFIX`. */
  readonly counters: Map<number, Counter>;
}

interface Waiter {
  readonly prefix: Uint8Array;
  readonly resolve: () => void;
}

/**
 * Counts the admitted operations that are not released, by scope.
 *
 * A reload may change the scope of a key while an operation on it runs. Operations that were admitted
 * under other prefixes are then counted separately until they are released, and counted for every scope that
 * they may concern. A count can be too high for a moment, and never too low.
 */
export class InFlight {
  #current: Generation;
  #older: Generation[] = [];
  #waiters: Waiter[] = [];
  // One function for all admissions: it only checks whether a caller waits.
  readonly #onRelease = (): void => this.#wake();

  constructor(index: ScopeIndex) {
    this.#current = { index, counters: new Map() };
  }

  /** Use the positions of this index from now on. */
  follow(index: ScopeIndex): void {
    if (index.prefixes === this.#current.index.prefixes) return;
    this.#older = [...this.#older, this.#current].filter(({ counters }) =>
      [...counters.values()].some(({ count }) => count > 0),
    );
    this.#current = { index, counters: new Map() };
  }

  /** Counts an operation on a key of the scope at this position, or of none, until it is released. */
  admit(position: number, verdict: Owned | Unknown): Admission {
    let counter = this.#current.counters.get(position);
    if (counter === undefined) this.#current.counters.set(position, (counter = { count: 0 }));
    return new Admission(verdict, counter, this.#onRelease);
  }

  /** Operations in flight that may be on a key of the scope with this prefix. */
  count(prefix: Uint8Array): number {
    const { index, counters } = this.#current;
    const position = index.positionOf(prefix);
    const current = position < 0 ? 0 : (counters.get(position)?.count ?? 0);
    return this.#older.reduce((sum, generation) => sum + countRelated(generation, prefix), current);
  }

  /** Resolves when the count of a prefix is 0. */
  whenDrained(prefix: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push({ prefix, resolve });
      this.#wake();
    });
  }

  #wake(): void {
    if (this.#waiters.length === 0) return;
    this.#waiters = this.#waiters.filter(({ prefix, resolve }) => {
      if (this.count(prefix) > 0) return true;
      resolve();
      return false;
    });
  }
}

/** A key under the prefix was counted by a scope inside the prefix, by the scope around it, or by none. */
function countRelated({ index, counters }: Generation, prefix: Uint8Array): number {
  const around = index.find(prefix);
  let sum = 0;
  for (const [position, { count }] of counters) {
    const scope = index.scopes[position];
    if (position === around || (scope !== undefined && startsWith(prefixBytes(scope), prefix))) sum += count;
  }
  return sum;
}

/**
 * Permission to operate on a key. It counts as in flight until it is released.
 *
 * Release it when the operation can have no more effect, whether it succeeded or not: a move of the
 * scope waits for it. `using` releases it at the end of the block.
 */
export class Admission {
  /** Why the operation was admitted. */
  readonly verdict: Owned | Unknown;
  #counter: Counter | undefined;
  readonly #onRelease: () => void;

  constructor(verdict: Owned | Unknown, counter: Counter, onRelease: () => void) {
    counter.count += 1;
    this.verdict = verdict;
    this.#counter = counter;
    this.#onRelease = onRelease;
  }

  /** Idempotent. */
  release(): void {
    if (this.#counter === undefined) return;
    this.#counter.count -= 1;
    this.#counter = undefined;
    this.#onRelease();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
