import type { MigrationState } from "../move/migration.ts";
import { UNKNOWN, type Misdirected, type Owned, type Quiesced, type Routing, type Unavailable } from "./routing.ts";
import type { ScopeIndex } from "../find/scope-index.ts";
import { PerScope } from "./per-scope.ts";
import type { Scope } from "../table/scope.ts";

/** Whether a node is down, as far as the caller knows. */
export type IsDown = (node: string) => boolean;

/**
 * Decides the verdict for a scope. All rules of routing are here.
 *
 * The router of a table has no moves and epoch 0. The router of a snapshot has its moves and its epoch.
 */
export class ScopeRouter {
  readonly index: ScopeIndex;
  readonly #moving: ReadonlyMap<number, Quiesced>;
  readonly #owned: PerScope<Owned>;
  readonly #toWriter: PerScope<Misdirected>;
  readonly #toFallback: PerScope<Misdirected>;
  readonly #unavailable: PerScope<Unavailable>;
  // The verdicts for the first node that called. A process is one node and asks for itself, so a verdict then takes one
  // array access instead of two.
  #first: string | undefined;
  readonly #forFirst: PerScope<Routing>;

  constructor(
    index: ScopeIndex,
    { epoch, moves }: { readonly epoch: number; readonly moves: readonly MigrationState[] },
  ) {
    const { scopes } = index;
    const perScope = <T extends Routing>(verdictOf: (scope: Scope) => T): PerScope<T> =>
      new PerScope(scopes.length, (position) => Object.freeze(verdictOf(scopes[position]!)));
    this.index = index;
    this.#moving = new Map(moves.map((move) => [index.positionOf(move.prefix), quiesced(move, epoch)]));
    this.#owned = perScope((scope) => ({ kind: "Owned", scope, epoch }));
    this.#toWriter = perScope((scope) => ({ kind: "Misdirected", scope, epoch, target: scope.writer }));
    this.#toFallback = perScope((scope) => ({ kind: "Misdirected", scope, epoch, target: scope.fallback! }));
    this.#unavailable = perScope((scope) => ({ kind: "Unavailable", scope, epoch, writer: scope.writer }));
    this.#forFirst = new PerScope(scopes.length, (position) => this.#decide(position, this.#first!));
  }

  /** The verdict at node `self` for the scope at `position`, which the index found; `Unknown` if that is negative. */
  route(position: number, self: string): Routing {
    if (position < 0) return UNKNOWN;
    this.#first ??= self;
    return self === this.#first ? this.#forFirst.at(position) : this.#decide(position, self);
  }

  #decide(position: number, self: string): Routing {
    const moving = this.#moving.get(position);
    if (moving !== undefined) return moving;
    return this.index.scopes[position]!.writer === self ? this.#owned.at(position) : this.#toWriter.at(position);
  }

  /** Like `route`, but uses the fallback of a node that is down. A moving scope is quiesced in any case. */
  routeWithFallbackState(position: number, self: string, isDown: IsDown): Routing {
    if (position < 0) return UNKNOWN;
    return this.#moving.get(position) ?? this.#byState(position, self, isDown);
  }

  #byState(position: number, self: string, isDown: IsDown): Owned | Misdirected | Unavailable {
    const { writer, fallback } = this.index.scopes[position]!;
    if (!isDown(writer)) return writer === self ? this.#owned.at(position) : this.#toWriter.at(position);
    if (fallback === undefined) return this.#unavailable.at(position);
    return fallback === self ? this.#owned.at(position) : this.#toFallback.at(position);
  }
}

function quiesced({ prefix, to, address }: MigrationState, epoch: number): Quiesced {
  return Object.freeze({ kind: "Quiesced", prefix: prefix.slice(), epoch, target: to, address });
}
