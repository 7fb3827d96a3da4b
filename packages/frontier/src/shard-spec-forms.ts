// Every constructor of a spec has three forms: `x` owns its result, `xRef` borrows it from a scratch, `xInto` puts it
// into an arena. The middle one does the work, and these two make the others of it.
import { ShardArena, type ShardSpec, type ShardSpecHandle } from "@gossip/contracts";
import { assert, assertBytes, err, ok, type Result } from "@gossip/stdx";
import type { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import type { ShardIntoError } from "./shard-into-error.ts";
import { ShardSpecScratch } from "./shard-spec-scratch.ts";

/** A constructor's `Ref` form. */
export type RefForm<Input, E> = (input: Input, scratch: ShardSpecScratch) => Result<BorrowedShardSpec, E>;

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);

// Kept between calls, because a scratch is 24 KiB. It is taken while in use: an encoding of the caller's may itself
// make a spec, and then needs another.
let spare: ShardSpecScratch | undefined;

export function buildOwned<Input, E>(refForm: RefForm<Input, E>, input: Input): Result<ShardSpec, E> {
  const scratch = spare ?? new ShardSpecScratch();
  spare = undefined;
  try {
    const built = refForm(input, scratch);
    return built.ok ? ok(built.value.toOwned()) : built;
  } finally {
    spare = scratch;
  }
}

export function buildInto<Input, E>(
  refForm: RefForm<Input, E>,
  input: Input,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<E>> {
  assert(arena instanceof ShardArena, "arena must be a ShardArena");
  const built = refForm(input, scratch);
  return built.ok ? arena.allocSpec(built.value) : err({ kind: "Build", reason: built.error });
}

/** `bytes`, or a copy where they are a view of the scratch, which is about to be written. */
export function apartFrom(scratch: ShardSpecScratch, bytes: Uint8Array): Uint8Array {
  const { start, end, metadata } = scratch;
  const isView = start.isViewedBy(bytes) || end.isViewedBy(bytes) || metadata.isViewedBy(bytes);
  return isView ? new Uint8Array(bytes) : bytes;
}

/** Bytes that may be left out. */
export function readOptionalBytes(bytes: Uint8Array | undefined, what: string): Uint8Array {
  if (bytes === undefined) return NO_BYTES;
  assertBytes(bytes, what);
  return bytes;
}

/** The input of a constructor, if it is an object, and the scratch is one. Its parts are for the constructor to check. */
export function readInput<Input extends object>(input: Input, scratch: ShardSpecScratch): Input {
  assert(typeof input === "object" && input !== null, "the parts of a shard spec must be an object");
  assert(scratch instanceof ShardSpecScratch, "scratch must be a ShardSpecScratch");
  return input;
}
