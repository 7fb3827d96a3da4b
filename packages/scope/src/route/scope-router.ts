import type { MigrationState } from "../move/migration.ts";
import { UNKNOWN, type Misdirected, type Owned, type Quiesced, type Routing, type Unavailable } from "./routing.ts";
import type { ScopeIndex } from "../find/scope-index.ts";
import { blank, Verdicts } from "./verdicts.ts";

/** Whether a node is down, as far as the caller knows. */
export type IsDown = (node: string) => boolean;

/**
 * Decides the verdict for a scope. All rules of routing are here.
 *
 * The router of a table has no moves and epoch 0. The router of a snapshot has its moves and its epoch.
 */
export class ScopeRouter {
  readonly index: ScopeIndex;
  readonly #verdicts: Verdicts;
  readonly #moving: ReadonlyMap<number, Quiesced>;
  // The verdicts for the first node that called, by position. A process is one node and asks for itself, so a
  // verdict then takes one array access instead of two.
  #first: string | undefined;
  #forFirst: (Routing | undefined)[] = [];

  constructor(
    index: ScopeIndex,
    { epoch, moves }: { readonly epoch: number; readonly moves: readonly MigrationState[] },
  ) {
    this.index = index;
    this.#verdicts = new Verdicts(index.scopes, epoch);
    this.#moving = new Map(moves.map((move) => [index.positionOf(move.prefix), quiesced(move, epoch)]));
  }

  /** The verdict at node `self` for the scope at `position`, which the index found; `Unknown` if that is negative. */
  route(position: number, self: string): Routing {
    if (position < 0) return UNKNOWN;
    return self === this.#first
      ? (this.#forFirst[position] ??= this.#decide(position, self))
      : this.#routeOther(position, self);
  }

  #routeOther(position: number, self: string): Routing {
    if (this.#first === undefined) {
      this.#first = self;
      this.#forFirst = blank(this.index.scopes.length);
    }
    return this.#decide(position, self);
  }

  #decide(position: number, self: string): Routing {
    const moving = this.#moving.get(position);
    if (moving !== undefined) return moving;
    return this.index.scopes[position]!.writer === self
      ? this.#verdicts.owned(position)
      : this.#verdicts.toWriter(position);
  }

  /** Like `route`, but uses the fallback of a node that is down. A moving scope is quiesced in any case. */
  routeWithFallbackState(position: number, self: string, isDown: IsDown): Routing {
    if (position < 0) return UNKNOWN;
    return this.#moving.get(position) ?? this.#byState(position, self, isDown);
  }

  #byState(position: number, self: string, isDown: IsDown): Owned | Misdirected | Unavailable {
    const { writer, fallback } = this.index.scopes[position]!;
    if (!isDown(writer)) return writer === self ? this.#verdicts.owned(position) : this.#verdicts.toWriter(position);
    if (fallback === undefined) return this.#verdicts.unavailable(position);
    return fallback === self ? this.#verdicts.owned(position) : this.#verdicts.toFallback(position);
  }
}

function quiesced({ prefix, to, address }: MigrationState, epoch: number): Quiesced {
  return Object.freeze({ kind: "Quiesced", prefix: prefix.slice(), epoch, target: to, address });
}
