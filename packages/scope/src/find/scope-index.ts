import { prefixBytes, type Scope } from "../table/scope.ts";
import { readBytes, type Bytes } from "../text-bytes.ts";
import { NO_PREFIX, NOT_ASCII, type PrefixTree } from "./prefix-tree.ts";

/** How to treat nested prefixes: `"refuse"` them, or use the `"longest"` one that matches. */
export type NestedPrefixes = "refuse" | "longest";

/** Finds the scope of a key. Writers and fallbacks may change while the prefixes stay the same. */
export class ScopeIndex {
  /** In input order. A position in this list identifies a scope throughout this package. */
  readonly scopes: readonly Scope[];
  readonly nested: NestedPrefixes;
  /** Of the scopes at the same positions. The same object in every index over the same prefixes. */
  readonly prefixes: PrefixTree;

  constructor(scopes: readonly Scope[], nested: NestedPrefixes, prefixes: PrefixTree) {
    this.scopes = scopes;
    this.nested = nested;
    this.prefixes = prefixes;
  }

  /**
   * The position of the key's scope, or `NO_PREFIX`.
   *
   * Hot: allocates nothing, except for text that is not ASCII.
   */
  find(key: Bytes): number {
    const position = typeof key === "string" ? this.prefixes.findText(key) : NOT_ASCII;
    if (position !== NOT_ASCII) return position;
    const bytes = readBytes(key, "key");
    return this.prefixes.find(bytes, bytes.length);
  }

  /** The position of the scope with exactly this prefix, or `NO_PREFIX`. */
  positionOf(prefix: Uint8Array): number {
    const position = this.find(prefix);
    return position >= 0 && prefixBytes(this.scopes[position]!).length === prefix.length ? position : NO_PREFIX;
  }
}
