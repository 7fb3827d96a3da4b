import { assertBytes } from "@gossip/stdx";
import type { PrefixOrder } from "./prefix-order.ts";
import { NOT_BY_TEXT, PrefixIndex } from "./prefix-index.ts";
import { buildPrefixTree } from "./prefix-tree.ts";
import { prefixBytes, type Scope } from "../table/scope.ts";
import { encodeHeadInto, type Bytes } from "../text-bytes.ts";

/** How to treat nested prefixes: `"refuse"` them, or use the `"longest"` one that matches. */
export type NestedPrefixes = "refuse" | "longest";

/**
 * Finds the scope of a key.
 *
 * Writers and fallbacks may change. The search uses only the prefixes, which every index from `withScopes` shares.
 */
export class ScopeIndex {
  /** In input order. A position in this list identifies a scope throughout this package. */
  readonly scopes: readonly Scope[];
  readonly nested: NestedPrefixes;
  /** The same object in every index over the same prefixes. */
  readonly prefixes: PrefixIndex;
  readonly #isNested: boolean;
  readonly #maxPrefixSize: number;
  // Holds an encoded text key during a search. Searching is synchronous, so one buffer is enough.
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
    // Separate methods, so that each sees one type only.
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
    // Bytes beyond the longest prefix do not matter.
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
