import { MAX_KEY_SIZE, type ShardSpecInputError } from "@gossip/contracts";
import { assertBytes, err, ok, type Result } from "@gossip/stdx";
import type { PrefixShardError } from "./prefix-shard-error.ts";
import { prefixSuccessorInto } from "./prefix-successor.ts";
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

/** Write into the scratch both bounds of all keys that start with `prefix`. */
export function writePrefixBounds(prefix: Uint8Array, scratch: ShardSpecScratch): Result<void, PrefixShardError> {
  assertBytes(prefix, "prefix");
  if (prefix.length === 0) return err({ kind: "EmptyPrefix" });
  if (prefix.length > MAX_KEY_SIZE) return err({ kind: "PrefixTooLarge", size: prefix.length, max: MAX_KEY_SIZE });
  if (!prefixSuccessorInto(prefix, scratch.end)) return err({ kind: "NoSuccessor" });
  scratch.start.copyFromSlice(prefix);
  return ok();
}

/** A spec's refusal as a prefix shard's. */
export function wrapRefusal<T>(spec: Result<T, ShardSpecInputError>): Result<T, PrefixShardError> {
  return spec.ok ? spec : err({ kind: "InvalidShardSpec", reason: spec.error });
}
