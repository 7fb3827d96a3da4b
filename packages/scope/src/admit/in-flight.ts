import type { Owned, Unknown } from "../route/routing.ts";
import { startsWith } from "@gossip/stdx";
import type { ScopeIndex } from "../find/scope-index.ts";
import { prefixBytes } from "../table/scope.ts";

/** Counts operations. One object a scope, which its tokens hold on to. */
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
 * How many admitted operations have not been released, scope by scope.
 *
 * A reload may change which scope a key belongs to while an operation on it runs. What was admitted
 * under other prefixes is then kept apart until it is released, and counted for every scope that it
 * may concern: a count can be too high for a moment, and never too low.
 */
export class InFlight {
  #current: Generation;
  #older: Generation[] = [];

  constructor(index: ScopeIndex) {
    this.#current = emptyGeneration(index);
  }

  /** From now on, positions are those of this index. */
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

/** A key under the prefix was then counted by a scope inside the prefix, or else by the one around it, or by none. */
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
 * Leave to operate on a key. It counts as in flight until it is released.
 *
 * Release it when the operation can have no more effect, whether it succeeded or not: a move of the
 * scope waits for that. `using` does it at the end of the block.
 */
export class Admission {
  /** Why it was given. */
  readonly verdict: Owned | Unknown;
  #counter: Counter | undefined;
  readonly #onRelease: () => void;

  constructor(verdict: Owned | Unknown, counter: Counter, onRelease: () => void) {
    counter.count += 1;
    this.verdict = verdict;
    this.#counter = counter;
    this.#onRelease = onRelease;
  }

  get isReleased(): boolean {
    return this.#counter === undefined;
  }

  /** Once is enough; again does nothing. */
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
