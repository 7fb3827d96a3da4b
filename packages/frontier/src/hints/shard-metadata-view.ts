import { err, ok, type Result } from "@gossip/stdx";
import { ENCODED_RANGE, pointHintView, ShardHintView } from "./shard-hint-view.ts";
import type { ShardMetadataDecodeError } from "./hint-error.ts";
import { LENGTH_FIELD_SIZE, readEnvelope, type ShardMetadata } from "./shard-metadata.ts";

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);

/**
 * A reusable view of encoded metadata, in place.
 *
 * Like `ShardHintView`: decoding allocates nothing, and the decoded bytes must not change while the view is in use. A
 * new view shows a range hint and no connector's bytes.
 */
export class ShardMetadataView {
  readonly hint: ShardHintView = new ShardHintView();
  #bytes: Uint8Array = NO_BYTES;
  #extraOffset = 0;

  /** Points the view at the whole envelope. On an error, the view does not change. Hot: allocates nothing but an error. */
  decode(metadata: Uint8Array): Result<void, ShardMetadataDecodeError> {
    const hintSize = readEnvelope(metadata);
    if (typeof hintSize !== "number") return err(hintSize);
    if (hintSize === 0) pointHintView(this.hint, ENCODED_RANGE, 0, 0);
    else pointHintView(this.hint, metadata, LENGTH_FIELD_SIZE, hintSize);
    this.#bytes = metadata;
    this.#extraOffset = hintSize === 0 ? 0 : LENGTH_FIELD_SIZE + hintSize;
    return ok();
  }

  get connectorExtraSize(): number {
    return this.#bytes.length - this.#extraOffset;
  }

  /** A view of the connector's bytes. */
  get connectorExtra(): Uint8Array {
    return this.#bytes.subarray(this.#extraOffset);
  }

  /** A copy of the metadata. */
  toOwned(): ShardMetadata {
    return { hint: this.hint.toOwned(), connectorExtra: new Uint8Array(this.connectorExtra) };
  }
}
