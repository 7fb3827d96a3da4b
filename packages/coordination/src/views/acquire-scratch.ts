import {
  MAX_KEY_SIZE,
  MAX_METADATA_SIZE,
  MAX_SPAWNED_PER_SHARD,
  MAX_TOKEN_SIZE,
  type Cursor,
  type CursorSemantics,
  type ShardId,
  type ShardSpec,
  type ShardSpecRef,
  type ShardStatus,
} from "@gossip/contracts";
import { assert, assertBytes, FixedBuf } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertIterable } from "./assert-iterable.ts";

/**
 * A shard's state whose bytes belong to a scratch: valid until the scratch is written again. Reading `spec` or `cursor`
 * after that throws.
 */
export interface ShardSnapshotView {
  readonly status: ShardStatus;
  readonly spec: ShardSpecRef;
  readonly cursor: Pick<Cursor, "lastKey" | "token">;
  readonly cursorSemantics: CursorSemantics;
  readonly parent: ShardId | undefined;
  readonly spawned: readonly ShardId[];
}

/**
 * Reusable memory for one shard's state.
 *
 * A worker that acquires many shards keeps one, and no acquire then allocates memory for keys, tokens or metadata,
 * whatever their size. It holds the largest possible shard: about 44 KiB.
 */
export class AcquireScratch {
  // Start, end and metadata one after the other, as a slab has them: one copy fills it.
  readonly #spec = new FixedBuf(2 * MAX_KEY_SIZE + MAX_METADATA_SIZE);
  readonly #cursor = new FixedBuf(MAX_KEY_SIZE + MAX_TOKEN_SIZE);
  #startSize = 0;
  #endSize = 0;
  #keySize = 0;
  #spawned: readonly ShardId[] = [];
  #generation = 0;
  #isInUse = false;

  /** Clears the scratch. Older views throw when they are read. */
  reset(): void {
    this.#generation++;
    this.#spec.reset();
    this.#cursor.reset();
    this.#startSize = 0;
    this.#endSize = 0;
    this.#keySize = 0;
    this.#spawned = [];
  }

  writeSpec(spec: ShardSpecRef): void {
    assertObject(spec, "spec to write");
    const { keyRangeStart, keyRangeEnd, metadata } = spec;
    assertBytes(keyRangeStart, "range start");
    assertBytes(keyRangeEnd, "range end");
    assertBytes(metadata, "metadata");
    assert(keyRangeStart.length <= MAX_KEY_SIZE, "range start must fit into the scratch");
    assert(keyRangeEnd.length <= MAX_KEY_SIZE, "range end must fit into the scratch");
    assert(metadata.length <= MAX_METADATA_SIZE, "metadata must fit into the scratch");
    const { bytes } = this.#spec;
    bytes.set(keyRangeStart);
    bytes.set(keyRangeEnd, keyRangeStart.length);
    bytes.set(metadata, keyRangeStart.length + keyRangeEnd.length);
    const size = keyRangeStart.length + keyRangeEnd.length + metadata.length;
    this.commitSpec({ startSize: keyRangeStart.length, endSize: keyRangeEnd.length, size });
  }

  writeCursor(cursor: Pick<Cursor, "lastKey" | "token">): void {
    assertObject(cursor, "cursor to write");
    const { lastKey, token } = cursor;
    if (lastKey !== undefined) assertBytes(lastKey, "cursor key");
    if (token !== undefined) assertBytes(token, "cursor token");
    const keySize = lastKey?.length ?? 0;
    const tokenSize = token?.length ?? 0;
    assert(keySize <= MAX_KEY_SIZE, "cursor key must fit into the scratch");
    assert(tokenSize <= MAX_TOKEN_SIZE, "cursor token must fit into the scratch");
    assert(keySize > 0 || tokenSize === 0, "a cursor must not have a token without a key");
    if (lastKey !== undefined) this.#cursor.bytes.set(lastKey);
    if (token !== undefined) this.#cursor.bytes.set(token, keySize);
    this.commitCursor({ keySize, size: keySize + tokenSize });
  }

  writeSpawned(shards: Iterable<ShardId>): void {
    assertIterable(shards, "list of spawned shards");
    const spawned = [...shards];
    assert(spawned.length <= MAX_SPAWNED_PER_SHARD, "spawned shards must fit into the scratch");
    this.#generation++;
    this.#spawned = spawned;
  }

  /** Returns the written bytes as a state, with the rest of its fields. */
  view(rest: Pick<ShardSnapshotView, "status" | "cursorSemantics" | "parent">): ShardSnapshotView {
    assertObject(rest, "rest of a shard's state");
    return {
      status: rest.status,
      spec: this.borrowSpec(),
      cursor: this.borrowCursor(),
      cursorSemantics: rest.cursorSemantics,
      parent: rest.parent,
      spawned: this.#spawned,
    };
  }

  /** For a store that fills the memory itself: start, end and metadata one after the other. */
  get specBytes(): Uint8Array {
    return this.#spec.bytes;
  }

  /** For a store that fills the memory itself: key and token one after the other. */
  get cursorBytes(): Uint8Array {
    return this.#cursor.bytes;
  }

  /** Declare what was put into `specBytes`. */
  commitSpec(sizes: { readonly startSize: number; readonly endSize: number; readonly size: number }): void {
    assertObject(sizes, "sizes of a spec");
    const { startSize, endSize, size } = sizes;
    this.#generation++;
    this.#spec.commit(size);
    this.#startSize = startSize;
    this.#endSize = endSize;
  }

  /** Declare what was put into `cursorBytes`. A key of no bytes is no key. */
  commitCursor(sizes: { readonly keySize: number; readonly size: number }): void {
    assertObject(sizes, "sizes of a cursor");
    const { keySize, size } = sizes;
    this.#generation++;
    this.#cursor.commit(size);
    this.#keySize = keySize;
  }

  /** The spec, borrowed. It was checked before it was stored, so it passes for one. */
  borrowSpec(): ShardSpec {
    return new BorrowedSpec(this, this.#generation) as ShardSpecRef as ShardSpec;
  }

  /** The cursor, borrowed. */
  borrowCursor(): Cursor {
    return new BorrowedCursor(this, this.#generation) as Pick<Cursor, "lastKey" | "token"> as Cursor;
  }

  /** Reserves the scratch for one acquire. Two at once would overwrite each other's bytes. */
  beginUse(): void {
    assert(!this.#isInUse, "a scratch serves one acquire at a time");
    this.#isInUse = true;
  }

  endUse(): void {
    this.#isInUse = false;
  }

  /** @internal */
  readSpecPart(generation: number, part: "start" | "end" | "metadata"): Uint8Array {
    this.#assertFresh(generation);
    const ends = { start: 0, end: this.#startSize, metadata: this.#startSize + this.#endSize };
    const stops = { start: ends.end, end: ends.metadata, metadata: this.#spec.length };
    return this.#spec.bytes.subarray(ends[part], stops[part]);
  }

  /** @internal */
  readCursorPart(generation: number, part: "key" | "token"): Uint8Array | undefined {
    this.#assertFresh(generation);
    const start = part === "key" ? 0 : this.#keySize;
    const stop = part === "key" ? this.#keySize : this.#cursor.length;
    return stop > start ? this.#cursor.bytes.subarray(start, stop) : undefined;
  }

  #assertFresh(generation: number): void {
    assert(generation === this.#generation, "a shard's view must not outlive its scratch's next use");
  }
}

class BorrowedSpec implements ShardSpecRef {
  readonly #scratch: AcquireScratch;
  readonly #generation: number;

  constructor(scratch: AcquireScratch, generation: number) {
    this.#scratch = scratch;
    this.#generation = generation;
  }

  get keyRangeStart(): Uint8Array {
    return this.#scratch.readSpecPart(this.#generation, "start");
  }

  get keyRangeEnd(): Uint8Array {
    return this.#scratch.readSpecPart(this.#generation, "end");
  }

  get metadata(): Uint8Array {
    return this.#scratch.readSpecPart(this.#generation, "metadata");
  }
}

class BorrowedCursor {
  readonly #scratch: AcquireScratch;
  readonly #generation: number;

  constructor(scratch: AcquireScratch, generation: number) {
    this.#scratch = scratch;
    this.#generation = generation;
  }

  get lastKey(): Uint8Array | undefined {
    return this.#scratch.readCursorPart(this.#generation, "key");
  }

  get token(): Uint8Array | undefined {
    return this.#scratch.readCursorPart(this.#generation, "token");
  }
}
