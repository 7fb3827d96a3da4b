import type { Readable } from "node:stream";
import type { Item } from "@gossip/worker";

/** An object as it was listed. It may have changed or gone since. */
export interface S3Item extends Item {
  readonly bucket: string;
  /** Its key as text; `key` is that in UTF-8. */
  readonly name: string;
  /** `s3://bucket/key`. */
  readonly url: string;
  readonly size: number;
  readonly etag: string | undefined;
  readonly modified: Date | undefined;
  /** Its content. Rejects if the object has been deleted. A stream that breaks off throws: read it again. */
  read(signal?: AbortSignal): Promise<Readable>;
}
