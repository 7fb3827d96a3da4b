import { MAX_METADATA_SIZE } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import { ScratchBuf } from "../keys/scratch-buf.ts";

/** Reusable storage for one encoded hint, or one metadata envelope. */
export class MetadataBuf extends ScratchBuf {
  static readonly CAPACITY: number = MAX_METADATA_SIZE;

  constructor() {
    super(MetadataBuf.CAPACITY);
  }
}

/** Assert that a value is a `MetadataBuf`. */
export function assertMetadataBuf(out: unknown): asserts out is MetadataBuf {
  if (!(out instanceof MetadataBuf)) assert(false, "out must be a MetadataBuf");
}
