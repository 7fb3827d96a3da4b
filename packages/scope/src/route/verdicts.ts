import type { Misdirected, Owned, Unavailable } from "./routing.ts";
import type { Scope } from "../table/scope.ts";

/**
 * The verdicts for the scopes of one table at one epoch, each created on first use.
 *
 * They are cached so that `route` can return an object without allocating.
 */
export class Verdicts {
  readonly #scopes: readonly Scope[];
  readonly #epoch: number;
  // Empty until first used: most tables do not need all four.
  #owned: (Owned | undefined)[] = [];
  #toWriter: (Misdirected | undefined)[] = [];
  #toFallback: (Misdirected | undefined)[] = [];
  #unavailable: (Unavailable | undefined)[] = [];

  constructor(scopes: readonly Scope[], epoch: number) {
    this.#scopes = scopes;
    this.#epoch = epoch;
  }

  owned(position: number): Owned {
    if (this.#owned.length === 0) this.#owned = blank(this.#scopes.length);
    return (this.#owned[position] ??= Object.freeze({
      kind: "Owned",
      scope: this.#scopes[position]!,
      epoch: this.#epoch,
    }));
  }

  toWriter(position: number): Misdirected {
    if (this.#toWriter.length === 0) this.#toWriter = blank(this.#scopes.length);
    return (this.#toWriter[position] ??= misdirected(
      this.#scopes[position]!,
      this.#scopes[position]!.writer,
      this.#epoch,
    ));
  }

  /** Only for a scope that has a fallback. */
  toFallback(position: number): Misdirected {
    if (this.#toFallback.length === 0) this.#toFallback = blank(this.#scopes.length);
    return (this.#toFallback[position] ??= misdirected(
      this.#scopes[position]!,
      this.#scopes[position]!.fallback!,
      this.#epoch,
    ));
  }

  unavailable(position: number): Unavailable {
    if (this.#unavailable.length === 0) this.#unavailable = blank(this.#scopes.length);
    const scope = this.#scopes[position]!;
    return (this.#unavailable[position] ??= Object.freeze({
      kind: "Unavailable",
      scope,
      epoch: this.#epoch,
      writer: scope.writer,
    }));
  }
}

function misdirected(scope: Scope, target: string, epoch: number): Misdirected {
  return Object.freeze({ kind: "Misdirected", scope, epoch, target });
}

/** A list to fill in later. Items are pushed one by one: reading a hole in an array would search its prototype. */
export function blank(count: number): undefined[] {
  const list: undefined[] = [];
  for (let index = 0; index < count; index++) list.push(undefined);
  return list;
}
