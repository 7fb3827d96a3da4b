import { CanonicalWriter } from "./canonical-writer.ts";
import { DerivedShardKind } from "../states/derived-shard-kind.ts";
import { deriveKeyHasher, DOMAINS } from "./derive-key-hasher.ts";
import { DERIVED_SHARD_BIT } from "../limits.ts";

// The hashes themselves belong to coordination. These are the least compositions of this package's pieces that
// reproduce the published vectors, and so pin the pieces.

const splitIds = deriveKeyHasher(DOMAINS.SPLIT_ID_V1);
const opPayloads = deriveKeyHasher(DOMAINS.OP_PAYLOAD_V1);

export function deriveSplitId(input: {
  readonly run: bigint;
  readonly parent: bigint;
  readonly op: bigint;
  readonly kind: DerivedShardKind;
  readonly index: number;
}): bigint {
  const out = new CanonicalWriter();
  out.u64(input.run);
  out.u64(input.parent);
  out.u64(input.op);
  out.u8(DerivedShardKind.codes[input.kind]);
  out.u32(input.index);
  return splitIds.hash64(out.view()) | DERIVED_SHARD_BIT;
}

export function opPayloadHash(tag: string, writeFields: (out: CanonicalWriter) => void = () => {}): bigint {
  const out = new CanonicalWriter();
  out.fixedBytes(new TextEncoder().encode(tag));
  writeFields(out);
  return opPayloads.hash64(out.view());
}
