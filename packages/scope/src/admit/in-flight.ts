import type { Owned, Unknown } from "../route/routing.ts";
import { startsWith } from "@gossip/stdx";
import type { ScopeIndex } from "../find/scope-index.ts";
import { prefixBytes } from "../table/scope.ts";

/** Counts operations. One object per scope, shared by its admissions. */
export interface Counter {
  count: number;
}

/** The operations admitted while one set of prefixes was in force. */
interface Generation {
  /** Of the first index with these prefixes: only its prefixes are used. */
  readonly index: ScopeIndex;
  readonly byPosition: Map<number, Counter>;
  /** Of keys that no scope covered. */
  readonly unscoped: Counter;
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

  constructor(index: ScopeIndex) {
    this.#current = emptyGeneration(index);
  }

  /** Use the positions of this index from now on. */
  follow(index: ScopeIndex): void {
    if (index.prefixes === this.#current.index.prefixes) return;
    this.#older = [...this.#older, this.#current].filter((generation) => !isIdle(generation));
    this.#current = emptyGeneration(index);
  }

  /** The counter of a scope, or of the keys without one. */
  counterAt(position: number): Counter {
    if (position < 0) return this.#current.unscoped;
    let counter = this.#current.byPosition.get(position);
    if (counter === undefined) this.#current.byPosition.set(position, (counter = { count: 0 }));
    return counter;
  }

  /** Operations in flight that may be on a key of the scope with this prefix. */
  count(prefix: Uint8Array): number {
    const position = this.#current.index.positionOf(prefix);
    const current = position < 0 ? 0 : (this.#current.byPosition.get(position)?.count ?? 0);
    return this.#older.reduce((sum, generation) => sum + countRelated(generation, prefix), current);
  }
}

function emptyGeneration(index: ScopeIndex): Generation {
  return { index, byPosition: new Map(), unscoped: { count: 0 } };
}

/** A key under the prefix was counted by a scope inside the prefix, by the scope around it, or by none. */
function countRelated({ index, byPosition, unscoped }: Generation, prefix: Uint8Array): number {
  const around = index.find(prefix);
  let sum = around < 0 ? unscoped.count : 0;
  for (const [position, { count }] of byPosition) {
    if (position === around || startsWith(prefixBytes(index.scopes[position]!), prefix)) sum += count;
  }
  return sum;
}

function countAll({ byPosition, unscoped }: Generation): number {
  let sum = unscoped.count;
  for (const { count } of byPosition.values()) sum += count;
  return sum;
}

function isIdle(generation: Generation): boolean {
  return countAll(generation) === 0;
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
