import { assert, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { MAX_SCOPES } from "../limits.ts";
import type { ScopeConflicts } from "./ownership-error.ts";
import { listConflicts } from "../find/prefix-conflicts.ts";
import { PrefixTree } from "../find/prefix-tree.ts";
import type { Misdirected, Owned, Quiesced, Routing, Unknown } from "../route/routing.ts";
import { isScope, prefixBytes, type Scope } from "./scope.ts";
import { ScopeIndex, type NestedPrefixes } from "../find/scope-index.ts";
import { ScopeRouter, type IsDown } from "../route/scope-router.ts";
import type { Bytes } from "../text-bytes.ts";

export interface OwnershipTableOptions {
  /** Default `"refuse"`. */
  readonly nested?: NestedPrefixes;
}

/** For this package: set by the class below. */
export let indexOf: (table: OwnershipTable) => ScopeIndex;
export let tableOf: (index: ScopeIndex) => OwnershipTable;

/**
 * Which node may write under which prefix, as configured.
 *
 * Immutable. No prefix is inside another, unless you allow it, so one scope at most applies to a key. It does not know
 * about moves: `OwnershipSnapshot` does.
 */
export class OwnershipTable {
  readonly #index: ScopeIndex;
  readonly #router: ScopeRouter;
  #byLength: readonly Scope[] | undefined;

  static {
    indexOf = (table) => table.#index;
    tableOf = (index) => new OwnershipTable(index);
  }

  private constructor(index: ScopeIndex) {
    this.#index = index;
    this.#router = new ScopeRouter(index, { epoch: 0, moves: [] });
  }

  /**
   * Builds a table of these scopes, or returns every conflict between them.
   *
   * Costs about as much as sorting the prefixes.
   */
  static build(scopes: readonly Scope[], options: OwnershipTableOptions = {}): Result<OwnershipTable, ScopeConflicts> {
    assertObject(options, "options");
    const { nested = "refuse" } = options;
    assert(Array.isArray(scopes), "scopes must be an array");
    assert(scopes.length <= MAX_SCOPES, () => `a table may hold at most ${MAX_SCOPES} scopes, got ${scopes.length}`);
    assert(nested === "refuse" || nested === "longest", 'nested must be "refuse" or "longest"');
    for (let position = 0; position < scopes.length; position++)
      assert(isScope(scopes[position]), () => `scopes[${position}] must be a Scope`);

    const prefixes = scopes.map(prefixBytes);
    const tree = new PrefixTree(prefixes);
    const conflicts = listConflicts(prefixes, tree, { allowNested: nested === "longest" });
    if (conflicts.length > 0) return err({ kind: "ScopeConflicts", conflicts });
    return ok(new OwnershipTable(new ScopeIndex(scopes.slice(), nested, tree)));
  }

  get size(): number {
    return this.#index.scopes.length;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  get nested(): NestedPrefixes {
    return this.#index.nested;
  }

  /** All scopes, the longest prefix first; those of one length in the order they were given. */
  scopes(): readonly Scope[] {
    this.#byLength ??= Object.freeze(
      this.#index.scopes.toSorted((a, b) => prefixBytes(b).length - prefixBytes(a).length),
    );
    return this.#byLength;
  }

  /** The scopes that are unavailable while their writer is down. Worth a warning at startup, not an error. */
  scopesWithoutFallback(): readonly Scope[] {
    return this.scopes().filter((scope) => scope.fallback === undefined);
  }

  /**
   * The scope that covers the key.
   *
   * Hot: allocates nothing.
   */
  lookup(key: Bytes): Scope | undefined {
    const position = this.#index.find(key);
    return position < 0 ? undefined : this.#index.scopes[position];
  }

  /**
   * How node `self` should treat the key, by configuration alone.
   *
   * The key is bytes and not text: two text arguments could be swapped by mistake, and a swapped call returns
   * `Unknown`, which means "accept". `OwnershipNode` knows its own id and accepts both forms.
   *
   * Hot: allocates nothing after the first call for a scope.
   */
  route(key: Uint8Array, self: string): Owned | Misdirected | Unknown {
    // Without moves there is no `Quiesced`, and without `isDown` no `Unavailable`.
    return this.#router.route(key, self) as Owned | Misdirected | Unknown;
  }

  /**
   * How node `self` should treat the key, given which nodes are down.
   *
   * Calls `isDown` once, for the writer, and not at all for a key without a scope. It does not check the fallback:
   * if that is down too, it is still the node to go to.
   */
  routeWithFallbackState(key: Uint8Array, self: string, isDown: IsDown): Exclude<Routing, Quiesced> {
    return this.#router.routeWithFallbackState(key, self, isDown) as Exclude<Routing, Quiesced>;
  }
}
