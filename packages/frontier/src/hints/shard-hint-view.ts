import { assert, assertBytes, err, ok, type Result } from "@gossip/stdx";
import type { ManifestId, ManifestRow } from "../keys/manifest-id.ts";
import { HINT_KINDS, readHint, TAG_MANIFEST, TAG_PREFIX, TAG_RANGE } from "./read-hint.ts";
import type { ShardHintDecodeError } from "./hint-error.ts";
import { copyHint, prefixAt, type ShardHint } from "./shard-hint.ts";
import { readU64 } from "../keys/u64-bytes.ts";

/** What a view of empty metadata shows. */
export const ENCODED_RANGE: Uint8Array = /* @__PURE__ */ Uint8Array.of(TAG_RANGE);

// Gives `ShardMetadataView`, which is in another file, access to the private fields. The package does not export it.
export let pointHintView: (view: ShardHintView, bytes: Uint8Array, offset: number, size: number) => void;

/**
 * A reusable view of an encoded hint, in place.
 *
 * Decoding allocates nothing; so do `kind` and the sizes. The other parts are created when you read them: a view of the
 * prefix, a bigint. They are read from the bytes that were decoded, so they must not change while the view is in use.
 *
 * A new view shows a range hint.
 */
export class ShardHintView {
  #bytes: Uint8Array = ENCODED_RANGE;
  #offset = 0;
  #size = 1;

  /** Points the view at the hint at the start of `bytes`. On an error, the view does not change. Hot: allocates nothing but an error. */
  decode(bytes: Uint8Array): Result<void, ShardHintDecodeError> {
    assertBytes(bytes, "bytes");
    const size = readHint(bytes, 0, bytes.length);
    if (typeof size !== "number") return err(size);
    pointHintView(this, bytes, 0, size);
    return ok();
  }

  get kind(): ShardHint["kind"] {
    return HINT_KINDS[this.#bytes[this.#offset]!]!;
  }

  /** How many bytes the hint took. */
  get consumed(): number {
    return this.#size;
  }

  /** A view of the prefix. Throws `InvariantViolation` unless the hint is a `Prefix`. */
  get prefix(): Uint8Array {
    assert(this.#bytes[this.#offset] === TAG_PREFIX, "only a prefix hint has a prefix");
    return prefixAt(this.#bytes, this.#offset);
  }

  /** Throws `InvariantViolation` unless the hint is a `Manifest`. */
  get manifestId(): ManifestId {
    return this.#manifestPart(1) as ManifestId;
  }

  get startRow(): ManifestRow {
    return this.#manifestPart(9) as ManifestRow;
  }

  get endRow(): ManifestRow {
    return this.#manifestPart(17) as ManifestRow;
  }

  /** A copy of the hint. */
  toOwned(): ShardHint {
    return copyHint(this.#bytes, this.#offset);
  }

  #manifestPart(position: number): bigint {
    assert(this.#bytes[this.#offset] === TAG_MANIFEST, "only a manifest hint has a manifest and rows");
    return readU64(this.#bytes, this.#offset + position);
  }

  static {
    pointHintView = (view, bytes, offset, size) => {
      view.#bytes = bytes;
      view.#offset = offset;
      view.#size = size;
    };
  }
}
