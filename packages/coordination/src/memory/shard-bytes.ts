import {
  MAX_KEY_SIZE,
  MAX_METADATA_SIZE,
  MAX_TOKEN_SIZE,
  type Cursor,
  type ShardSpec,
  type ShardSpecRef,
} from "@gossip/contracts";
import { ByteSlab, ByteSlot, compareBytes, type SlabFull } from "@gossip/stdx";
import type { AcquireScratch } from "../views/acquire-scratch.ts";

/** Where a spec's bytes are: start, end and metadata one after the other, in one block. */
export interface PackedSpec {
  readonly slot: ByteSlot;
  readonly startSize: number;
  readonly endSize: number;
}

/** Where a cursor's bytes are: key and token one after the other, in one block. An initial cursor has none. */
export interface PackedCursor {
  readonly slot: ByteSlot;
  readonly keySize: number;
}

const MAX_SPEC_SIZE = 2 * MAX_KEY_SIZE + MAX_METADATA_SIZE;
/** Smallest block of a slab. */
const MIN_BLOCK_SIZE = 16;
const MAX_CURSOR_SIZE = MAX_KEY_SIZE + MAX_TOKEN_SIZE;
const INITIAL: PackedCursor = /* @__PURE__ */ Object.freeze({ slot: ByteSlot.EMPTY, keySize: 0 });

/**
 * The bytes of all shards of a store, in one slab.
 *
 * A slab of a fixed size bounds the memory of the store: when it is full, a write that needs more is refused and
 * changes nothing. A spec or a cursor takes one block instead of one per field, which saves most of the bookkeeping.
 */
export class ShardBytes {
  readonly #slab: ByteSlab;
  readonly #staging = new Uint8Array(Math.max(MAX_SPEC_SIZE, MAX_CURSOR_SIZE));
  #refusedSize = 0;

  constructor(capacity: number) {
    this.#slab = new ByteSlab(capacity);
  }

  get liveBytes(): number {
    return this.#slab.liveBytes;
  }

  get liveCount(): number {
    return this.#slab.liveCount;
  }

  /** Copies a spec in. Returns `undefined` if there is no room. */
  packSpec(spec: ShardSpecRef): PackedSpec | undefined {
    const { keyRangeStart, keyRangeEnd, metadata } = spec;
    const staging = this.#staging;
    staging.set(keyRangeStart);
    staging.set(keyRangeEnd, keyRangeStart.length);
    staging.set(metadata, keyRangeStart.length + keyRangeEnd.length);
    const slot = this.#allocate(keyRangeStart.length + keyRangeEnd.length + metadata.length);
    return slot && { slot, startSize: keyRangeStart.length, endSize: keyRangeEnd.length };
  }

  /** Copies a cursor in. Returns `undefined` if there is no room. */
  packCursor(cursor: Cursor): PackedCursor | undefined {
    const { lastKey, token } = cursor;
    if (lastKey === undefined) return INITIAL;
    const staging = this.#staging;
    staging.set(lastKey);
    if (token !== undefined) staging.set(token, lastKey.length);
    const slot = this.#allocate(lastKey.length + (token?.length ?? 0));
    return slot && { slot, keySize: lastKey.length };
  }

  /** Returns a copy of a spec. */
  readSpec({ slot, startSize, endSize }: PackedSpec): ShardSpec {
    const bytes = this.#slab.get(slot);
    const keyRangeStart = bytes.slice(0, startSize);
    const keyRangeEnd = bytes.slice(startSize, startSize + endSize);
    const metadata = bytes.slice(startSize + endSize);
    // It was checked when it was stored, and no caller has these bytes.
    return Object.freeze({ keyRangeStart, keyRangeEnd, metadata }) as ShardSpecRef as ShardSpec;
  }

  /** Returns a copy of a cursor that is not initial. */
  readCursor({ slot, keySize }: PackedCursor): Cursor {
    const bytes = this.#slab.get(slot);
    const lastKey = bytes.slice(0, keySize);
    const token = bytes.length > keySize ? bytes.slice(keySize) : undefined;
    return Object.freeze({ lastKey, token }) as Pick<Cursor, "lastKey" | "token"> as Cursor;
  }

  /** Copies a spec and a cursor into a scratch. Allocates nothing for their bytes. */
  copyInto(spec: PackedSpec, cursor: PackedCursor, scratch: AcquireScratch): void {
    const specSize = this.#slab.copyInto(spec.slot, scratch.specBytes);
    scratch.commitSpec({ startSize: spec.startSize, endSize: spec.endSize, size: specSize });
    const cursorSize = this.#slab.copyInto(cursor.slot, scratch.cursorBytes);
    scratch.commitCursor({ keySize: cursor.keySize, size: cursorSize });
  }

  /** Returns the bytes of a block, borrowed: valid until the next write. */
  view(slot: ByteSlot): Uint8Array {
    return this.#slab.get(slot);
  }

  /** Compares two range starts. */
  compareStarts(a: PackedSpec, b: PackedSpec): number {
    return compareBytes(this.viewStart(a), this.viewStart(b));
  }

  /** Returns a spec's range start, borrowed. */
  viewStart({ slot, startSize }: PackedSpec): Uint8Array {
    return this.#slab.get(slot).subarray(0, startSize);
  }

  release(slot: ByteSlot): void {
    this.#slab.deallocate(slot);
  }

  /**
   * Returns what the last refused allocation needed, and what fits now. Call it after everything has been released:
   * `available` is then what will succeed.
   */
  lastRefusal(): SlabFull {
    const { available } = this.#slab.refusalFor(Number.MAX_SAFE_INTEGER)!;
    const requested = Math.max(MIN_BLOCK_SIZE, 2 ** Math.ceil(Math.log2(this.#refusedSize)));
    return { kind: "SlabFull", requested, available };
  }

  #allocate(size: number): ByteSlot | undefined {
    if (size === 0) return ByteSlot.EMPTY;
    const slot = new ByteSlot();
    if (this.#slab.allocateInto(this.#staging.subarray(0, size), slot)) return slot;
    this.#refusedSize = size;
    return undefined;
  }
}
