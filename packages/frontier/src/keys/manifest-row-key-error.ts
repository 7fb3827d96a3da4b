import { type JsonCodec } from "@gossip/contracts";
import { JsonReader, variantCodec, variantReader } from "@gossip/contracts/internal";

/** Why two values cannot be a manifest row key: `field` is not an unsigned 64-bit bigint. *Addition*: the seeds have a type for those. */
export interface ManifestRowKeyError {
  readonly kind: "NotU64";
  readonly field: "manifestId" | "row";
}

export const ManifestRowKeyError: JsonCodec<ManifestRowKeyError> = /* @__PURE__ */ variantCodec(
  /* @__PURE__ */ variantReader<ManifestRowKeyError>({
    NotU64: { field: /* @__PURE__ */ JsonReader.oneOf(["manifestId", "row"]) },
  }),
);
