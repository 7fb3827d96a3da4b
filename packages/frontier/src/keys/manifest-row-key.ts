import { assert, assertBytes, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertKeyBuf, type KeyBuf } from "./key-buf.ts";
import type { KeyEncoding } from "./key-encoding.ts";
import type { ManifestRowKeyError } from "./key-error.ts";
import type { ManifestId, ManifestRow } from "./manifest-id.ts";
import { assertU64, isU64 } from "@gossip/contracts/internal";
import { readU64 } from "./u64-bytes.ts";

/** The parts of a manifest row key. */
export interface ManifestRowInput {
  readonly manifestId: bigint;
  readonly row: bigint;
}

/**
 * A row of a manifest as a key: manifest id, then row, eight bytes each, big-endian.
 *
 * Keys are in the order of their manifests and, within one, of their rows. The width is fixed, so there is nothing to
 * escape and nothing to terminate.
 */
export class ManifestRowKey implements KeyEncoding {
  static readonly ENCODED_LEN: number = 16;

  readonly manifestId: ManifestId;
  readonly row: ManifestRow;

  /** Throws `InvariantViolation` for what `tryNew` refuses. */
  constructor(input: ManifestRowInput) {
    assertObject(input, "a manifest row");
    const { manifestId, row } = input;
    assertU64(manifestId, "manifest id");
    assertU64(row, "manifest row");
    this.manifestId = manifestId as ManifestId;
    this.row = row as ManifestRow;
  }

  /** For untrusted input. The manifest id is checked first. */
  static tryNew(input: ManifestRowInput): Result<ManifestRowKey, ManifestRowKeyError> {
    assertObject(input, "a manifest row");
    const { manifestId, row } = input;
    if (!isU64(manifestId)) return err({ kind: "NotU64", field: "manifestId" });
    if (!isU64(row)) return err({ kind: "NotU64", field: "row" });
    return ok(new ManifestRowKey({ manifestId, row }));
  }

  /** Order two rows by manifest, then by row. Negative, zero or positive. */
  static compare(a: ManifestRowKey, b: ManifestRowKey): number {
    const areKeys = a instanceof ManifestRowKey && b instanceof ManifestRowKey;
    assert(areKeys, "both keys to compare must be manifest row keys");
    if (a.manifestId !== b.manifestId) return a.manifestId < b.manifestId ? -1 : 1;
    if (a.row === b.row) return 0;
    return a.row < b.row ? -1 : 1;
  }

  /** Hot: allocates nothing. */
  encodeInto(out: KeyBuf): void {
    assertKeyBuf(out);
    out.words.setBigUint64(0, this.manifestId);
    out.words.setBigUint64(8, this.row);
    out.commit(ManifestRowKey.ENCODED_LEN);
  }
}

/** Decodes a manifest row key. Returns `undefined` unless there are sixteen bytes. */
export function decodeManifestRowKey(key: Uint8Array): ManifestRowKey | undefined {
  assertBytes(key, "key");
  if (key.length !== ManifestRowKey.ENCODED_LEN) return undefined;
  return new ManifestRowKey({ manifestId: readU64(key, 0), row: readU64(key, 8) });
}
