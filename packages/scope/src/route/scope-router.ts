import { assert } from "@gossip/stdx";
import { assertId } from "../assert-id.ts";
import type { MigrationState } from "../move/migration.ts";
import { UNKNOWN, type Misdirected, type Owned, type Quiesced, type Routing, type Unavailable } from "./routing.ts";
import type { ScopeIndex } from "../find/scope-index.ts";
import type { Bytes } from "../text-bytes.ts";

/** Whether a node is down, as far as the caller knows. */
export type IsDown = (node: string) => boolean;

/** Everything that can be the verdict for a key of one scope. */
interface Verdicts {
  readonly owned: Owned;
  readonly toWriter: Misdirected;
  /** For other nodes than the fallback, while the writer is down. */
  readonly writerDown: Misdirected | Unavailable;
  /** While the scope moves, in place of the others. */
  readonly moving: Quiesced | undefined;
}

/**
 * Decides the verdict for a scope. All rules of routing are here.
 *
 * The router of a table has no moves and epoch 0. The router of a snapshot has its moves and its epoch.
 */
export class ScopeRouter {
  readonly index: ScopeIndex;
  readonly #epoch: number;
  readonly #moving: ReadonlyMap<number, Quiesced>;
  // By position. Made on first use and kept, so that a route allocates nothing.
  readonly #verdicts: (Verdicts | undefined)[];
  // The verdicts for the first node that asked. A process is one node and asks for itself, and then needs to read only
  // this array: reading the verdicts as well takes half as long again, since few of them are in the cache.
  readonly #forFirst: (Routing | undefined)[];
  #first: string | undefined;

  constructor(
    index: ScopeIndex,
    { epoch, moves }: { readonly epoch: number; readonly moves: readonly MigrationState[] },
  ) {
    this.index = index;
    this.#epoch = epoch;
    this.#moving = new Map(moves.map((move) => [index.positionOf(move.prefix), quiesced(move, epoch)]));
    // Without holes, not even as a kind of array: reading a hole would search the prototype.
    this.#verdicts = Array.from(index.scopes, () => undefined);
    this.#forFirst = Array.from(index.scopes, () => undefined);
  }

  /** How node `self` should treat the key. */
  route(key: Bytes, self: string): Routing {
    assertId(self, "self");
    return this.verdictAt(this.index.find(key), self);
  }

  /** How node `self` should treat the key, given which nodes are down. */
  routeWithFallbackState(key: Bytes, self: string, isDown: IsDown): Routing {
    assertId(self, "self");
    assert(typeof isDown === "function", "isDown must be a function");
    return this.verdictAt(this.index.find(key), self, isDown);
  }

  /**
   * The verdict for the scope at `position`, which the index found; `Unknown` if that is negative.
   *
   * With `isDown`, uses the fallback of a writer that is down. A moving scope is quiesced in any case.
   */
  verdictAt(position: number, self: string, isDown?: IsDown): Routing {
    if (position < 0) return UNKNOWN;
    this.#first ??= self;
    return isDown === undefined && self === this.#first
      ? (this.#forFirst[position] ??= this.#decide(position, self, isDown))
      : this.#decide(position, self, isDown);
  }

  #decide(position: number, self: string, isDown: IsDown | undefined): Routing {
    const { owned, toWriter, writerDown, moving } = this.#at(position);
    if (moving !== undefined) return moving;
    if (isDown === undefined || !isDown(toWriter.target)) return toWriter.target === self ? owned : toWriter;
    return writerDown.kind === "Misdirected" && writerDown.target === self ? owned : writerDown;
  }

  #at(position: number): Verdicts {
    return (this.#verdicts[position] ??= this.#make(position));
  }

  #make(position: number): Verdicts {
    const scope = this.index.scopes[position]!;
    const { writer, fallback } = scope;
    const epoch = this.#epoch;
    return {
      owned: Object.freeze({ kind: "Owned", scope, epoch }),
      toWriter: Object.freeze({ kind: "Misdirected", scope, epoch, target: writer }),
      writerDown: Object.freeze(
        fallback === undefined
          ? { kind: "Unavailable", scope, epoch, writer }
          : { kind: "Misdirected", scope, epoch, target: fallback },
      ),
      moving: this.#moving.get(position),
    };
  }
}

function quiesced({ prefix, to, address }: MigrationState, epoch: number): Quiesced {
  return Object.freeze({ kind: "Quiesced", prefix: prefix.slice(), epoch, target: to, address });
}
