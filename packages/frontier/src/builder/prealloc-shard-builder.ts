import {
  Cursor,
  MAX_BUILDER_ENTRIES,
  MAX_INITIAL_SHARDS,
  MAX_SPLIT_CHILDREN,
  ShardArena,
  ShardId,
  validateManifest,
  type InitialShardInput,
  type ShardSpecHandle,
  type ShardSpecRef,
} from "@gossip/contracts";
import { assert, assertCount, err, InlineVec, ok, type Result, type SlabFull } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import {
  assertRangeSplit,
  checkParts,
  countManifestParts,
  cutManifest,
  cutRange,
  type ManifestSplitInput,
  type RangeSplitInput,
} from "../splits/cut-into-shards.ts";
import { frontierErrorMessage } from "../frontier-error-message.ts";
import {
  manifestShardInto,
  type ManifestShardInput,
  prefixShardInto,
  type PrefixShardInput,
  rangeShardInto,
  type RangeShardInput,
  specInto,
} from "../shards/shard-constructors.ts";
import type { PreallocShardBuilderError } from "./prealloc-shard-builder-error.ts";
import type { IntoForm } from "../shards/shard-spec-forms.ts";
import { ShardSpecScratch } from "../shards/shard-spec-scratch.ts";

/** How many entries a builder may hold. */
export interface BuilderLimits {
  /** The entries that the caller plans for. */
  readonly entryLimit: number;
  /** The capacity; at most and by default `MAX_BUILDER_ENTRIES`. */
  readonly cap?: number;
}

/** The errors of these kinds. */
type Refusal<Kind> = Extract<PreallocShardBuilderError, { readonly kind: Kind }>;

/** An error of a spec under the kind of the builder's method. */
type Invalid<Kind, E> = { readonly kind: Kind; readonly reason: E };

/** The id of a shard that was added, or why it was refused: no room in the builder, an invalid shard, a full arena. */
type Added<Kind> = Result<ShardId, Refusal<"CapacityExceeded" | Kind | "SlabFull">>;

/** The ids of the shards of a split, or why it was refused. */
type Split<Kind> = Result<ShardId[], Refusal<"FanOutExceeded" | "CapacityExceeded" | Kind | "SlabFull">>;

type BuilderLimitError = Refusal<"EntryLimitZero" | "CapMismatch" | "EntryLimitExceedsManifestMax">;

/** A staged shard. Its id is its position: entries are never removed one by one. */
interface Entry {
  readonly handle: ShardSpecHandle;
  readonly cursor: Cursor;
}

/**
 * Stages the first shards of a run in an arena, then returns them as a manifest.
 *
 * `add…` and `split…` check their input and stage it under the next id, from 0 on. A refused call changes nothing and
 * uses no id: a split adds all of its shards or none. `buildInputs` checks what concerns all shards together (overlap,
 * missing bounds, cursors).
 *
 * The builder borrows the arena: `reset` frees what it staged, and disposing of the builder clears the whole arena,
 * including specs that other code put there.
 */
export class PreallocShardBuilder {
  readonly entryLimit: number;
  readonly #arena: ShardArena;
  readonly #scratch = new ShardSpecScratch();
  // Never spills, because every call first checks for room, and the limit is within the capacity.
  #entries: InlineVec<Entry>;
  #isDisposed = false;

  /** Throws `InvariantViolation` for what `tryNew` refuses. */
  constructor(arena: ShardArena, limits: BuilderLimits) {
    const refused = checkLimits(arena, limits);
    assert(refused === undefined, () => frontierErrorMessage(refused!));
    this.#arena = arena;
    this.entryLimit = limits.entryLimit;
    this.#entries = new InlineVec(limits.cap ?? MAX_BUILDER_ENTRIES);
  }

  /** Errors, in this order: a limit of zero, above the capacity, above what a manifest may hold. */
  static tryNew(arena: ShardArena, limits: BuilderLimits): Result<PreallocShardBuilder, BuilderLimitError> {
    const refused = checkLimits(arena, limits);
    return refused === undefined ? ok(new PreallocShardBuilder(arena, limits)) : err(refused);
  }

  get length(): number {
    return this.#entries.length;
  }

  get isEmpty(): boolean {
    return this.#entries.isEmpty;
  }

  get remainingEntries(): number {
    return this.entryLimit - this.#entries.length;
  }

  /** Stage a shard as `rangeShard` makes it, without progress. */
  addRange(input: RangeShardInput): Added<"RangeInvalid"> {
    return this.addRangeWithCursor(input, Cursor.initial());
  }

  /** As `addRange`, with progress. `buildInputs` checks that it lies in the range. */
  addRangeWithCursor(input: RangeShardInput, cursor: Cursor): Added<"RangeInvalid"> {
    return this.#add(input, cursor, "RangeInvalid", rangeShardInto);
  }

  /** Stage a shard as `prefixShard` makes it, without progress. */
  addPrefix(input: PrefixShardInput): Added<"PrefixInvalid"> {
    return this.addPrefixWithCursor(input, Cursor.initial());
  }

  /** As `addPrefix`, with progress. `buildInputs` checks that it lies in the range. */
  addPrefixWithCursor(input: PrefixShardInput, cursor: Cursor): Added<"PrefixInvalid"> {
    return this.#add(input, cursor, "PrefixInvalid", prefixShardInto);
  }

  /** Stage a shard as `manifestShard` makes it, without progress. */
  addManifest(input: ManifestShardInput): Added<"ManifestCtorInvalid"> {
    return this.addManifestWithCursor(input, Cursor.initial());
  }

  /** As `addManifest`, with progress. `buildInputs` checks that it lies in the range. */
  addManifestWithCursor(input: ManifestShardInput, cursor: Cursor): Added<"ManifestCtorInvalid"> {
    return this.#add(input, cursor, "ManifestCtorInvalid", manifestShardInto);
  }

  /** Stage a copy of any spec, without progress. */
  addSpecRef(spec: ShardSpecRef): Added<"SpecInvalid"> {
    return this.#add(spec, Cursor.initial(), "SpecInvalid", specInto);
  }

  /** Stage a spec that is already in the arena, without copying it. The builder owns it from then on: `reset` frees it. */
  addSpecHandle(handle: ShardSpecHandle): Result<ShardId, Refusal<"CapacityExceeded" | "InvalidSpecHandle">> {
    const room = this.#checkRoom(1);
    if (!room.ok) return room;
    if (this.#arena.tryViewSpec(handle) === undefined) return err({ kind: "InvalidSpecHandle" });
    return ok(this.#append(handle, Cursor.initial()));
  }

  /**
   * Stage a range cut at interior points: one shard more than there are points.
   *
   * Errors, in this order; nothing is staged then: more shards than a split may make; more than there is room for; a
   * part that is not a range (the points are not in order, a point is empty, something is too large); no room in the
   * arena.
   */
  splitRangeByBoundaries(input: RangeSplitInput): Split<"RangeInvalid"> {
    assertRangeSplit(input);
    const room = this.#checkFanOut(input.splitPoints.length + 1);
    if (!room.ok) return room;
    const parts = cutRange(input);
    const checked = checkParts(parts, this.#scratch);
    if (!checked.ok) return err({ kind: "RangeInvalid", reason: checked.error });
    return this.#addAll(parts, Cursor.initial(), "RangeInvalid", rangeShardInto);
  }

  /**
   * Stage the rows of a manifest, `rowsPerShard` each; the last shard may have fewer.
   *
   * Errors, in this order; nothing is staged then: no rows, or zero per shard; more shards than a split may make; more
   * than there is room for; metadata that is too large; no room in the arena.
   */
  splitManifestByRows(input: ManifestSplitInput): Split<"ManifestCtorInvalid"> {
    const counted = countManifestParts(input);
    if (!counted.ok) return err({ kind: "ManifestCtorInvalid", reason: counted.error });
    const room = this.#checkFanOut(counted.value);
    if (!room.ok) return room;
    return this.#addAll(cutManifest(input), Cursor.initial(), "ManifestCtorInvalid", manifestShardInto);
  }

  /**
   * The staged shards in the order they were added, if they are a valid manifest.
   *
   * Changes nothing. The specs are borrowed from the arena: reading them after `reset` or dispose throws.
   */
  buildInputs(): Result<InitialShardInput[], Refusal<"InvalidSpecHandle" | "ManifestInvalid">> {
    this.#assertUsable();
    const inputs: InitialShardInput[] = [];
    for (const { handle, cursor } of this.#entries) {
      const spec = this.#arena.tryViewSpec(handle);
      if (spec === undefined) return err({ kind: "InvalidSpecHandle" });
      inputs.push({ shard: idOf(inputs.length), spec, cursor });
    }
    const checked = validateManifest(inputs);
    return checked.ok ? ok(inputs) : err({ kind: "ManifestInvalid", reason: checked.error });
  }

  /** Free every staged spec and start over with id 0. */
  reset(): void {
    this.#assertUsable();
    for (const { handle } of this.#entries) this.#arena.freeSpec(handle);
    this.#entries = new InlineVec(this.#entries.capacity);
  }

  /** Clears the arena. Idempotent. */
  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#entries = new InlineVec(this.#entries.capacity);
    this.#arena.clear();
  }

  #add<Input, E, Kind extends string>(
    input: Input,
    cursor: Cursor,
    kind: Kind,
    allocate: IntoForm<Input, E>,
  ): Result<ShardId, Invalid<Kind, E> | Refusal<"CapacityExceeded" | "SlabFull">> {
    // Throws unless it has the shape of a cursor.
    Cursor.isInitial(cursor);
    const room = this.#checkRoom(1);
    if (!room.ok) return room;
    const added = this.#addAll([input], cursor, kind, allocate);
    return added.ok ? ok(added.value[0]!) : added;
  }

  /** Put every part into the arena, then stage them. If one does not fit, remove the others again. */
  #addAll<Input, E, Kind extends string>(
    parts: readonly Input[],
    cursor: Cursor,
    kind: Kind,
    allocate: IntoForm<Input, E>,
  ): Result<ShardId[], Invalid<Kind, E> | SlabFull> {
    const handles: ShardSpecHandle[] = [];
    for (const part of parts) {
      const handle = allocate(part, this.#scratch, this.#arena);
      if (handle.ok) {
        handles.push(handle.value);
        continue;
      }
      for (const handle of handles.reverse()) this.#arena.freeSpec(handle);
      const { error } = handle;
      if (error.kind === "Build") return err({ kind, reason: error.reason });
      // There is more room after the rollback. An arena without a slot has none, and requests only 1.
      return err(error.requested > 1 ? { ...error, available: this.#arena.largestFreeSize } : error);
    }
    return ok(handles.map((handle) => this.#append(handle, cursor)));
  }

  #append(handle: ShardSpecHandle, cursor: Cursor): ShardId {
    this.#entries.push({ handle, cursor });
    return idOf(this.#entries.length - 1);
  }

  #checkFanOut(requested: number): Result<void, Refusal<"FanOutExceeded" | "CapacityExceeded">> {
    if (requested > MAX_SPLIT_CHILDREN) return err({ kind: "FanOutExceeded", limit: MAX_SPLIT_CHILDREN, requested });
    return this.#checkRoom(requested);
  }

  #checkRoom(additional: number): Result<void, Refusal<"CapacityExceeded">> {
    this.#assertUsable();
    const current = this.#entries.length;
    if (current + additional <= this.entryLimit) return ok();
    return err({ kind: "CapacityExceeded", limit: this.entryLimit, current, additional });
  }

  #assertUsable(): void {
    assert(!this.#isDisposed, "a shard builder must not be used after it was disposed of");
  }
}

function idOf(index: number): ShardId {
  return ShardId.fromRaw(BigInt(index));
}

function checkLimits(arena: ShardArena, limits: BuilderLimits): BuilderLimitError | undefined {
  assert(arena instanceof ShardArena, "arena must be a ShardArena");
  assertObject(limits, "limits");
  const { entryLimit, cap = MAX_BUILDER_ENTRIES } = limits;
  assertCount(cap, "cap", { min: 1, max: MAX_BUILDER_ENTRIES });
  assertCount(entryLimit, "entryLimit", { min: 0, max: Number.MAX_SAFE_INTEGER });
  if (entryLimit === 0) return { kind: "EntryLimitZero" };
  if (entryLimit > cap) return { kind: "CapMismatch", entryLimit, cap };
  if (entryLimit > MAX_INITIAL_SHARDS) {
    return { kind: "EntryLimitExceedsManifestMax", entryLimit, max: MAX_INITIAL_SHARDS };
  }
  return undefined;
}
