import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assert, compareBytes, err, ok, type Result } from "@gossip/stdx";
import { assertKeyBuf, type KeyBuf } from "./key-buf.ts";
import { frontierErrorMessage } from "../frontier-error-message.ts";
import type { KeyEncoding } from "./key-encoding.ts";
import type { PathKeyError } from "./key-error.ts";
import { utf8Size } from "./utf8.ts";

const UTF8 = /* @__PURE__ */ new TextEncoder();

/**
 * A path as a key: its UTF-8 bytes, unchanged.
 *
 * Nothing is normalized: `a//b` and `a/b` are two keys, and so are two spellings of one accented letter. Paths are in
 * the order of their bytes, which is the order of their code points and not that of `<` on strings: `"\u{FF5E}"` comes
 * before `"\u{1F600}"` here.
 */
export class PathKey implements KeyEncoding {
  readonly path: string;
  // Encoded once: `TextEncoder` allocates on every call, and `encodeInto` must not.
  readonly #bytes: Uint8Array;

  /** Throws `InvariantViolation` for what `tryNew` refuses. */
  constructor(path: string) {
    const refused = checkPath(path);
    assert(refused === undefined, () => frontierErrorMessage(refused!));
    this.path = path;
    this.#bytes = UTF8.encode(path);
  }

  /** A path that came from outside: `EmptyPath`, then `LoneSurrogate`, then `PathTooLarge`. */
  static tryNew(path: string): Result<PathKey, PathKeyError> {
    const refused = checkPath(path);
    return refused === undefined ? ok(new PathKey(path)) : err(refused);
  }

  /** Order two paths by their bytes. Negative, zero or positive. */
  static compare(a: PathKey, b: PathKey): number {
    assert(a instanceof PathKey && b instanceof PathKey, "both keys to compare must be path keys");
    return compareBytes(a.#bytes, b.#bytes);
  }

  /** Hot: allocates nothing. */
  encodeInto(out: KeyBuf): void {
    assertKeyBuf(out);
    out.copyFromSlice(this.#bytes);
  }
}

function checkPath(path: string): PathKeyError | undefined {
  assert(typeof path === "string", () => `path must be a string, got a value of type ${typeof path}`);
  if (path.length === 0) return { kind: "EmptyPath" };
  const size = utf8Size(path);
  if (size < 0) return { kind: "LoneSurrogate", index: -1 - size };
  if (size > MAX_KEY_SIZE) return { kind: "PathTooLarge", size, max: MAX_KEY_SIZE };
  return undefined;
}
