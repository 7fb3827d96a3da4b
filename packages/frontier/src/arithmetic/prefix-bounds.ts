import { MAX_KEY_SIZE, type ShardSpecInputError } from "@gossip/contracts";
import { err, ok, type Result } from "@gossip/stdx";
import type { KeyBuf } from "../keys/key-buf.ts";
import type { PrefixShardError } from "../shards/prefix-shard-error.ts";
import { prefixSuccessorInto } from "./prefix-successor.ts";

/** Write into `out` where the keys that start with `prefix` end. */
export function writePrefixEnd(prefix: Uint8Array, out: KeyBuf): Result<void, PrefixShardError> {
  if (prefix.length === 0) return err({ kind: "EmptyPrefix" });
  if (prefix.length > MAX_KEY_SIZE) return err({ kind: "PrefixTooLarge", size: prefix.length, max: MAX_KEY_SIZE });
  return prefixSuccessorInto(prefix, out) ? ok() : err({ kind: "NoSuccessor" });
}

/** A spec's refusal as a prefix shard's. */
export function asPrefixError(reason: ShardSpecInputError): PrefixShardError {
  return { kind: "InvalidShardSpec", reason };
}
