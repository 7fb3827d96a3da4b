import { assertBytes } from "@gossip/stdx";
import type { PrefixOrder } from "./prefix-order.ts";
import { NOT_BY_TEXT, PrefixIndex } from "./prefix-index.ts";
import { buildPrefixTree } from "./prefix-tree.ts";
import { prefixBytes, type Scope } from "../table/scope.ts";
import { encodeHeadInto, type Bytes } from "../text-bytes.ts";

/** How prefixes inside each other are taken: `"refuse"` them, or let the `"longest"` one that fits decide. */
export type NestedPrefixes = "refuse" | "longest";

/**
 * Finds the scope of a key.
 *
 * The scopes may change their writers and fallbacks; what is searched are the prefixes, which are
 * shared by every index that `withScopes` makes.
 */
export class ScopeIndex {
  /** In input order: a position in this list names a scope everywhere in this package. */
  readonly scopes: readonly Scope[];
  readonly nested: NestedPrefixes;
  /** What all indexes over one set of prefixes have in common; compare it to see whether they are. */
  readonly prefixes: PrefixIndex;
  readonly #isNested: boolean;
  readonly #maxPrefixSize: number;
  // Where a text key is encoded for a search. Searching is synchronous, so one is enough.
  readonly #scratch: Uint8Array;

  private constructor({ scopes, nested, prefixes, maxPrefixSize }: ScopeIndexParts) {
    this.scopes = scopes;
    this.nested = nested;
    this.prefixes = prefixes;
    this.#isNested = nested === "longest";
    this.#maxPrefixSize = maxPrefixSize;
    this.#scratch = new Uint8Array(maxPrefixSize + 3);
  }

  static build(scopes: readonly Scope[], order: PrefixOrder, nested: NestedPrefixes): ScopeIndex {
    const prefixes = new PrefixIndex(buildPrefixTree(order, { isNested: nested === "longest" }));
    const maxPrefixSize = scopes.reduce((max, scope) => Math.max(max, prefixBytes(scope).length), 0);
    return new ScopeIndex({ scopes, nested, prefixes, maxPrefixSize });
  }

  /** The same prefixes at the same positions, with other writers and fallbacks. */
  withScopes(scopes: readonly Scope[]): ScopeIndex {
    return new ScopeIndex({ scopes, nested: this.nested, prefixes: this.prefixes, maxPrefixSize: this.#maxPrefixSize });
  }

  /**
   * The position of the key's scope, or `NO_PREFIX`.
   *
   * Hot: allocates nothing.
   */
  find(key: Bytes): number {
    // Two ways from here on, so that neither has to cope with the types of the other.
    return typeof key === "string" ? this.#findText(key) : this.#findBytes(key);
  }

  #findBytes(key: Uint8Array): number {
    assertBytes(key, "key");
    return this.#isNested ? this.prefixes.findLongest(key, key.length) : this.prefixes.find(key, key.length);
  }

  #findText(key: string): number {
    if (!this.#isNested) {
      const position = this.prefixes.findInText(key);
      if (position !== NOT_BY_TEXT) return position;
    }
    const bytes = this.#scratch;
    // What lies beyond the longest prefix cannot matter.
    const size = encodeHeadInto(key, this.#maxPrefixSize, bytes);
    return this.#isNested ? this.prefixes.findLongest(bytes, size) : this.prefixes.find(bytes, size);
  }

  /** The position of the scope with exactly this prefix, or `NO_PREFIX`. */
  positionOf(prefix: Uint8Array): number {
    const position = this.find(prefix);
    return position >= 0 && prefixBytes(this.scopes[position]!).length === prefix.length ? position : -1;
  }
}

interface ScopeIndexParts {
  readonly scopes: readonly Scope[];
  readonly nested: NestedPrefixes;
  readonly prefixes: PrefixIndex;
  readonly maxPrefixSize: number;
}
