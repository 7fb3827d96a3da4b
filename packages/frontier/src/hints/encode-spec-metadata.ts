import { MAX_KEY_SIZE, type ShardSpecInputError } from "@gossip/contracts";
import { err, ok, type Result } from "@gossip/stdx";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import type { MetadataBuf } from "./metadata-buf.ts";
import type { ShardEncodeError } from "../shards/shard-encode-error.ts";
import { ShardMetadata } from "./shard-metadata.ts";

/** Encode metadata into `out`, and view it there. What has no encoding makes no spec either, and is reported as that. */
export function encodeSpecMetadata(metadata: ShardMetadata, out: MetadataBuf): Result<Uint8Array, ShardSpecInputError> {
  const encoded = ShardMetadata.encodeInto(metadata, out);
  return encoded.ok ? ok(out.asBytes()) : err(asSpecError(encoded.error));
}

function asSpecError(error: ShardEncodeError): ShardSpecInputError {
  switch (error.kind) {
    case "PrefixTooLarge":
      return { kind: "KeyTooLarge", size: error.size, max: MAX_KEY_SIZE };
    case "HintTooLarge":
    case "MetadataTooLarge":
      return { kind: "MetadataTooLarge", size: error.size, max: error.max };
    case "InvertedManifestRows":
      return { kind: "InvertedRange", startLen: ManifestRowKey.ENCODED_LEN, endLen: ManifestRowKey.ENCODED_LEN };
  }
}
