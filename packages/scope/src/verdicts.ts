import type { Misdirected, Owned, Unavailable } from "./routing.ts";
import type { Scope } from "./scope.ts";

/**
 * The verdicts about the scopes of one table at one epoch, each made when it is first needed.
 *
 * Keeping them is what lets a route answer an object and still allocate nothing.
 */
export class Verdicts {
  readonly #scopes: readonly Scope[];
  readonly #epoch: number;
  readonly #owned: (Owned | undefined)[];
  readonly #toWriter: (Misdirected | undefined)[];
  #toFallback: (Misdirected | undefined)[] = [];
  #unavailable: (Unavailable | undefined)[] = [];

  constructor(scopes: readonly Scope[], epoch: number) {
    this.#scopes = scopes;
    this.#epoch = epoch;
    this.#owned = blank(scopes.length);
    this.#toWriter = blank(scopes.length);
  }

  owned(position: number): Owned {
    return (this.#owned[position] ??= Object.freeze({ kind: "Owned", scope: this.#scopes[position]!, epoch: this.#epoch }));
  }

  toWriter(position: number): Misdirected {
    return (this.#toWriter[position] ??= misdirected(this.#scopes[position]!, this.#scopes[position]!.writer, this.#epoch));
  }

  /** Only for a scope that has a fallback. */
  toFallback(position: number): Misdirected {
    if (this.#toFallback.length === 0) this.#toFallback = blank(this.#scopes.length);
    return (this.#toFallback[position] ??= misdirected(this.#scopes[position]!, this.#scopes[position]!.fallback!, this.#epoch));
  }

  unavailable(position: number): Unavailable {
    if (this.#unavailable.length === 0) this.#unavailable = blank(this.#scopes.length);
    const scope = this.#scopes[position]!;
    return (this.#unavailable[position] ??= Object.freeze({ kind: "Unavailable", scope, epoch: this.#epoch, writer: scope.writer }));
  }
}

function misdirected(scope: Scope, target: string, epoch: number): Misdirected {
  return Object.freeze({ kind: "Misdirected", scope, epoch, target });
}

// Pushed one by one: an array made with holes would look at its prototype for every verdict not yet made.
function blank(count: number): undefined[] {
  const list: undefined[] = [];
  for (let index = 0; index < count; index++) list.push(undefined);
  return list;
}
