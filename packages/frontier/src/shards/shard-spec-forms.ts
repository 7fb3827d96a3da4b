// Every constructor of a spec has three forms: `x` owns its result, `xRef` borrows it from a scratch, `xInto` puts it
// into an arena. All three start from the same parts and differ in where they copy them to.
import {
  ShardArena,
  type ShardSpec,
  validateShardSpec,
  type ShardSpecHandle,
  type ShardSpecInputError,
  type ShardSpecRef,
} from "@gossip/contracts";
import { copyShardSpec } from "@gossip/contracts/internal";
import { assert, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import type { ShardIntoError } from "./shard-error.ts";
import type { ScratchBuf } from "../keys/scratch-buf.ts";
import { ShardSpecScratch } from "./shard-spec-scratch.ts";

/**
 * The code of one constructor that all its forms share.
 *
 * It returns bounds and metadata that `checkSpec` accepted: the caller's own arrays, or views of the scratch. It must
 * not overwrite a part that it still needs: the caller may have passed views of the scratch. The parts are checked
 * before they are copied, because a part that is too large for a spec may also be too large for a buffer.
 */
export type BuildParts<Input, E = ShardSpecInputError> = (
  input: Input,
  scratch: ShardSpecScratch,
) => Result<ShardSpecRef, E>;

// Kept between calls, because a scratch is 24 KiB. It is removed while in use: a caller's key encoding may itself build
// a spec, and then needs another.
let spare: ShardSpecScratch | undefined;

/** A constructor that owns its result. */
export type OwnedForm<Input, E = ShardSpecInputError> = (input: Input) => Result<ShardSpec, E>;

/** A constructor that borrows its result from a scratch. */
export type RefForm<Input, E = ShardSpecInputError> = (
  input: Input,
  scratch: ShardSpecScratch,
) => Result<BorrowedShardSpec, E>;

/** A constructor that puts its result into an arena. */
export type IntoForm<Input, E = ShardSpecInputError> = (
  input: Input,
  scratch: ShardSpecScratch,
  arena: ShardArena,
) => Result<ShardSpecHandle, ShardIntoError<E>>;

export function ownedForm<Input, E>(buildParts: BuildParts<Input, E>): OwnedForm<Input, E> {
  return (input) => {
    const scratch = spare ?? new ShardSpecScratch();
    spare = undefined;
    try {
      const parts = build(buildParts, input, scratch);
      return parts.ok ? ok(copyShardSpec(parts.value) as ShardSpec) : parts;
    } finally {
      spare = scratch;
    }
  };
}

export function refForm<Input, E>(buildParts: BuildParts<Input, E>): RefForm<Input, E> {
  return (input, scratch) => {
    const parts = build(buildParts, input, scratch);
    if (!parts.ok) return parts;
    const { start, end, metadata } = scratch;
    // Copy a part first if it is in a buffer that is about to be written.
    const ownEnd = apartFrom(parts.value.keyRangeEnd, start);
    const ownMetadata = apartFrom(apartFrom(parts.value.metadata, start), end);
    start.copyFromSlice(parts.value.keyRangeStart);
    end.copyFromSlice(ownEnd);
    metadata.copyFromSlice(ownMetadata);
    return ok(new BorrowedShardSpec(scratch));
  };
}

export function intoForm<Input, E>(buildParts: BuildParts<Input, E>): IntoForm<Input, E> {
  return (input, scratch, arena) => {
    assert(arena instanceof ShardArena, "arena must be a ShardArena");
    const parts = build(buildParts, input, scratch);
    return parts.ok ? arena.allocSpec(parts.value) : err({ kind: "Build", reason: parts.error });
  };
}

function build<Input, E>(
  buildParts: BuildParts<Input, E>,
  input: Input,
  scratch: ShardSpecScratch,
): Result<ShardSpecRef, E> {
  assert(scratch instanceof ShardSpecScratch, "scratch must be a ShardSpecScratch");
  assertObject(input, "the parts of a shard spec");
  return buildParts(input, scratch);
}

/** The spec, if it is valid. */
export function checkSpec(spec: ShardSpecRef): Result<ShardSpecRef, ShardSpecInputError> {
  const checked = validateShardSpec(spec);
  return checked.ok ? ok(spec) : checked;
}

/** `bytes`, or a copy if they are a view of a buffer that is about to be written. */
export function apartFrom(bytes: Uint8Array, buf: ScratchBuf): Uint8Array {
  return buf.isViewedBy(bytes) ? new Uint8Array(bytes) : bytes;
}
