import type { ShardId } from "@gossip/contracts";
import type { ShardPosition } from "@gossip/coordination";
import { decodeBase64Url, encodeBase64Url } from "./text.ts";

const ID_SIZE = 8;

/** A place in a list of shards as one text: the id, then the range start. Opaque to clients. */
export function writePosition({ keyRangeStart, shard }: ShardPosition): string {
  const bytes = new Uint8Array(ID_SIZE + keyRangeStart.length);
  new DataView(bytes.buffer).setBigUint64(0, shard);
  bytes.set(keyRangeStart, ID_SIZE);
  return encodeBase64Url(bytes);
}

/** `undefined` if the text is none that `writePosition` wrote. */
export function readPosition(text: string): ShardPosition | undefined {
  const bytes = decodeBase64Url(text);
  if (bytes === undefined || bytes.length < ID_SIZE) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return { shard: view.getBigUint64(0) as ShardId, keyRangeStart: bytes.subarray(ID_SIZE) };
}
