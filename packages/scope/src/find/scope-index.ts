import { assertBytes } from "@gossip/stdx";
import { prefixBytes, type Scope } from "../table/scope.ts";
import { encoder, type Bytes } from "../text-bytes.ts";
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
  // Holds an encoded text key during a search. Searching is synchronous, so one buffer is enough.
  readonly #scratch: Uint8Array;

  constructor(scopes: readonly Scope[], nested: NestedPrefixes, prefixes: PrefixTree) {
    this.scopes = scopes;
    this.nested = nested;
    this.prefixes = prefixes;
    // Bytes beyond the longest prefix do not matter. The last character of that many may need three more.
    this.#scratch = new Uint8Array(prefixes.maxSize + 3);
  }

  /**
   * The position of the key's scope, or `NO_PREFIX`.
   *
   * Hot: allocates nothing, except for text that is not ASCII.
   */
  find(key: Bytes): number {
    if (typeof key === "string") return this.#findText(key);
    assertBytes(key, "key");
    return this.prefixes.find(key, key.length);
  }

  #findText(key: string): number {
    const position = this.prefixes.findText(key);
    if (position !== NOT_ASCII) return position;
    return this.prefixes.find(this.#scratch, encoder.encodeInto(key, this.#scratch).written);
  }

  /** The position of the scope with exactly this prefix, or `NO_PREFIX`. */
  positionOf(prefix: Uint8Array): number {
    const position = this.find(prefix);
    return position >= 0 && prefixBytes(this.scopes[position]!).length === prefix.length ? position : NO_PREFIX;
  }
}
