import { assert, equalBytes, startsWith } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertId } from "../assert-id.ts";
import { MAX_PREFIX_SIZE } from "../limits.ts";
import { copyBytes, readBytes, type Bytes } from "../text-bytes.ts";

export interface ScopeOptions {
  /** May be empty: such a scope covers every key. */
  readonly prefix: Bytes;
  /** The id of the node that may write under the prefix. */
  readonly writer: string;
  /** The id of the one node that takes over while the writer is down. */
  readonly fallback?: string | undefined;
}

/** The scope's own bytes, for this package: do not modify them. Set by the class below. */
export let prefixBytes: (scope: Scope) => Uint8Array;
export let isScope: (value: unknown) => value is Scope;

/**
 * A declaration that one node writes every key under a prefix.
 *
 * The prefix is raw bytes, and delimiters have no meaning: `app` covers `apple`. A scope without a fallback is
 * unavailable while its writer is down.
 *
 * Immutable. Node ids are opaque and not checked against anything.
 */
export class Scope {
  readonly #prefix: Uint8Array;
  readonly writer: string;
  readonly fallback: string | undefined;

  static {
    prefixBytes = (scope) => scope.#prefix;
    isScope = (value): value is Scope => typeof value === "object" && value !== null && #prefix in value;
  }

  constructor(options: ScopeOptions) {
    assertObject(options, "a scope");
    const { prefix, writer, fallback } = options;
    const own = copyBytes(prefix, "prefix");
    assert(own.length <= MAX_PREFIX_SIZE, () => `prefix must be at most ${MAX_PREFIX_SIZE} bytes, got ${own.length}`);
    assertId(writer, "writer");
    if (fallback !== undefined) assertId(fallback, "fallback");
    this.#prefix = own;
    this.writer = writer;
    this.fallback = fallback;
    Object.freeze(this);
  }

  /** A copy. */
  get prefix(): Uint8Array {
    return this.#prefix.slice();
  }

  /** The same scope with this fallback in place of any other. */
  withFallback(fallback: string): Scope {
    return new Scope({ prefix: this.#prefix, writer: this.writer, fallback });
  }

  /** Whether the key is under the prefix. The prefix itself is. */
  matches(key: Bytes): boolean {
    return startsWith(readBytes(key, "key"), this.#prefix);
  }

  equals(other: Scope): boolean {
    assert(isScope(other), "a scope can be compared with a Scope only");
    return (
      this.writer === other.writer && this.fallback === other.fallback && equalBytes(this.#prefix, prefixBytes(other))
    );
  }
}
