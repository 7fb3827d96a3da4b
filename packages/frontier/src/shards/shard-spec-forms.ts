// Every constructor of a spec has three forms: `x` owns its result, `xRef` borrows it from a scratch, `xInto` puts it
// into an arena. All three start from the same parts and differ in where they copy them to.
import {
  ShardArena,
  ShardSpec,
  validateShardSpec,
  type ShardSpecHandle,
  type ShardSpecInputError,
  type ShardSpecRef,
} from "@gossip/contracts";
import { assert, assertBytes, err, ok, type Result } from "@gossip/stdx";
import { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import type { ShardIntoError } from "./shard-error.ts";
import type { ScratchBuf } from "../keys/scratch-buf.ts";
import { ShardSpecScratch } from "./shard-spec-scratch.ts";

/**
 * The code of one constructor that all its forms share.
 *
 * `parts` returns bounds and metadata: the caller's own arrays, or views of the scratch. It must not overwrite a part
 * that it still needs: the caller may have passed views of the scratch. The parts are validated before they are copied,
 * because a part that is too large for a spec may also be too large for a buffer. `refuse` converts the error.
 */
export interface SpecConstructor<Input, E> {
  parts(input: Input, scratch: ShardSpecScratch): Result<ShardSpecRef, E>;
  refuse(error: ShardSpecInputError): E;
}

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);

// Kept between calls, because a scratch is 24 KiB. It is removed while in use: a caller's key encoding may itself build
// a spec, and then needs another.
let spare: ShardSpecScratch | undefined;

/** A constructor that owns its result. */
export type OwnedForm<Input, E> = (input: Input) => Result<ShardSpec, E>;

/** A constructor that borrows its result from a scratch. */
export type RefForm<Input, E> = (input: Input, scratch: ShardSpecScratch) => Result<BorrowedShardSpec, E>;

/** A constructor that puts its result into an arena. */
export type IntoForm<Input, E> = (
  input: Input,
  scratch: ShardSpecScratch,
  arena: ShardArena,
) => Result<ShardSpecHandle, ShardIntoError<E>>;

export function ownedForm<Input, E>(constructor: SpecConstructor<Input, E>): OwnedForm<Input, E> {
  return (input) => {
    const scratch = spare ?? new ShardSpecScratch();
    spare = undefined;
    try {
      const parts = constructor.parts(input, scratch);
      if (!parts.ok) return parts;
      const owned = ShardSpec.tryFromRef(parts.value);
      return owned.ok ? owned : err(constructor.refuse(owned.error));
    } finally {
      spare = scratch;
    }
  };
}

export function refForm<Input, E>(constructor: SpecConstructor<Input, E>): RefForm<Input, E> {
  return (input, scratch) => {
    const parts = buildParts(constructor, input, scratch);
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

export function intoForm<Input, E>(constructor: SpecConstructor<Input, E>): IntoForm<Input, E> {
  return (input, scratch, arena) => {
    assert(arena instanceof ShardArena, "arena must be a ShardArena");
    const parts = buildParts(constructor, input, scratch);
    return parts.ok ? arena.allocSpec(parts.value) : err({ kind: "Build", reason: parts.error });
  };
}

/** The parts, checked to be a spec. */
function buildParts<Input, E>(
  constructor: SpecConstructor<Input, E>,
  input: Input,
  scratch: ShardSpecScratch,
): Result<ShardSpecRef, E> {
  assert(scratch instanceof ShardSpecScratch, "scratch must be a ShardSpecScratch");
  const parts = constructor.parts(input, scratch);
  if (!parts.ok) return parts;
  const checked = validateShardSpec(parts.value);
  return checked.ok ? parts : err(constructor.refuse(checked.error));
}

/** `bytes`, or a copy if they are a view of a buffer that is about to be written. */
export function apartFrom(bytes: Uint8Array, buf: ScratchBuf): Uint8Array {
  return buf.isViewedBy(bytes) ? new Uint8Array(bytes) : bytes;
}

/** Bytes that may be left out. */
export function readOptionalBytes(bytes: Uint8Array | undefined, what: string): Uint8Array {
  if (bytes === undefined) return NO_BYTES;
  assertBytes(bytes, what);
  return bytes;
}

/** Asserts that the input of a constructor is an object. The constructor checks its fields. */
export function assertInput(input: unknown): asserts input is object {
  assert(typeof input === "object" && input !== null, "the parts of a shard spec must be an object");
}
