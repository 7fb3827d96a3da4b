import { KeyBuf } from "../keys/key-buf.ts";
import { MetadataBuf } from "../hints/metadata-buf.ts";

/** Reusable storage for one shard spec: both bounds and the metadata. */
export class ShardSpecScratch {
  readonly start: KeyBuf = new KeyBuf();
  readonly end: KeyBuf = new KeyBuf();
  readonly metadata: MetadataBuf = new MetadataBuf();

  /** How often any of the three was written. */
  get generation(): number {
    return this.start.generation + this.end.generation + this.metadata.generation;
  }
}
