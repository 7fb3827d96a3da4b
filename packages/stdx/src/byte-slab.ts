// Kept in the declarations, so that `Symbol.dispose` and `AsyncDisposable` in them, here and in the layers above, mean
// something in a project that sets no `lib`.
/// <reference lib="esnext.disposable" preserve="true" />
import { assert, assertBytes, assertCount, assertObject, InvariantViolation, nameType } from "./assert.ts";
import { ByteSlot, type OpenSlot } from "./byte-slot.ts";
import { err, ok, type Result } from "./result.ts";
import { SlabSpace, type SlabFull } from "./slab-space.ts";

/** Largest capacity of a slab, in bytes. */
export const MAX_SLAB_CAPACITY = 2 ** 32 - 1;

/** Freed bytes are overwritten with this if `poisonFreed` is set. */
const POISON = 0xde;

/** Up to this many bytes, a loop is as fast as creating a view. */
const SHORT_COPY = 64;

const EMPTY = ByteSlot.EMPTY;

// Kept in a variable: looking the method up takes as long as a small copy.
const { set: setBytes } = Uint8Array.prototype as {
  readonly set: (this: Uint8Array, source: Uint8Array, offset: number) => void;
};

/** Debugging aids. Both are off by default: they cost time and change no result. */
export interface ByteSlabOptions {
  /** Overwrite bytes with `de` as they are freed, so that a view kept too long shows it. */
  readonly poisonFreed?: boolean;
  /** Throw on disposal if something is still allocated. */
  readonly checkLeaks?: boolean;
}

/**
 * Byte strings of any size in one buffer that is allocated once.
 *
 * Each takes a block of the next power of two, at least 16 bytes. Space comes from the smallest free block that is
 * large enough (the lowest of several), or else from the end of the used space. Adjacent free blocks merge at once.
 *
 * Every method throws `InvariantViolation` for a slot that is foreign, freed, or from before `clear`: its bytes may
 * belong to another slot.
 *
 * `allocateInto` and `deallocate` create no garbage. Their time grows with the logarithm of the number of free blocks.
 */
export class ByteSlab {
  readonly #bytes: Uint8Array;
  readonly #space: SlabSpace;
  readonly #poisonFreed: boolean;
  readonly #checkLeaks: boolean;

  /** `capacity` is in bytes, up to 2^32 - 1. */
  constructor(capacity: number, options: ByteSlabOptions = {}) {
    assertCount(capacity, "slab capacity", { min: 0, max: MAX_SLAB_CAPACITY });
    assertObject(options, "slab options");
    this.#bytes = allocateBuffer(capacity);
    this.#space = new SlabSpace(capacity);
    this.#poisonFreed = options.poisonFreed ?? false;
    this.#checkLeaks = options.checkLeaks ?? false;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** The id that slots of this slab carry. `clear` changes it. */
  get ownerId(): number {
    return this.#space.ownerId;
  }

  /** Bytes in live blocks: the sum of `allocSize` of every live slot. */
  get liveBytes(): number {
    return this.#space.liveBytes;
  }

  get liveCount(): number {
    return this.#space.liveCount;
  }

  /** The offset of the first byte that is in no block, live or free. */
  get bumpOffset(): number {
    return this.#space.bumpOffset;
  }

  get freeListBytes(): number {
    return this.#space.bumpOffset - this.#space.liveBytes;
  }

  /** An upper bound: these bytes may be fragmented. `refusalFor` returns what fits. */
  get availableBytes(): number {
    return this.capacity - this.liveBytes;
  }

  get isEmpty(): boolean {
    return this.#space.liveCount === 0;
  }

  /** Store a copy of `bytes`. The empty byte string is `ByteSlot.EMPTY` and takes no space. */
  allocate(bytes: Uint8Array): Result<ByteSlot, SlabFull> {
    assertBytes(bytes, "bytes");
    if (bytes.length === 0) return ok(EMPTY);
    const slot = new ByteSlot();
    return this.allocateInto(bytes, slot) ? ok(slot) : err(this.#space.refusalFor(bytes.length)!);
  }

  /**
   * Store a copy of `bytes` and write where it is into `slot`.
   *
   * Returns `false` and leaves `slot` unchanged if there is no room; `refusalFor` then returns the reason. What `slot`
   * named before is not freed.
   *
   * Allocates nothing once the slab has held as many blocks before.
   */
  allocateInto(bytes: Uint8Array, slot: ByteSlot): boolean {
    if (!(bytes instanceof Uint8Array) || !(slot instanceof ByteSlot) || slot === EMPTY) assertStorable(bytes, slot);
    if (bytes.length === 0) Object.assign(slot, EMPTY);
    else if (!this.#space.take(bytes.length, slot as OpenSlot)) return false;
    setBytes.call(this.#bytes, bytes, slot.offset);
    return true;
  }

  /** The error of allocating `size` bytes now; `undefined` if it would succeed. */
  refusalFor(size: number): SlabFull | undefined {
    assertCount(size, "size", { min: 0, max: Number.MAX_SAFE_INTEGER });
    return size === 0 ? undefined : this.#space.refusalFor(size);
  }

  /**
   * The bytes of a slot: a view, good until the slot is freed or the slab cleared.
   *
   * Nothing guards the view itself. Copy what you keep, and do so before the next `await`.
   */
  get(slot: ByteSlot): Uint8Array {
    this.#assertReadable(slot);
    return this.#bytes.subarray(slot.offset, slot.offset + slot.length);
  }

  /**
   * Copy the bytes of a slot to the start of `out`, and return how many they are.
   *
   * Allocates nothing for up to 64 bytes, and a short-lived view for more.
   */
  copyInto(slot: ByteSlot, out: Uint8Array): number {
    this.#assertReadable(slot);
    assertBytes(out, "out");
    const { offset, length } = slot;
    assert(length <= out.length, () => `slot of ${length} bytes does not fit into ${out.length}`);
    if (length <= SHORT_COPY) {
      for (let index = 0; index < length; index++) out[index] = this.#bytes[offset + index]!;
    } else {
      out.set(this.#bytes.subarray(offset, offset + length));
    }
    return length;
  }

  /** Free a slot and every copy of it. An empty slot has nothing to free. */
  deallocate(slot: ByteSlot): void {
    this.#assertReadable(slot);
    if (slot.isEmpty) return;
    if (this.#poisonFreed) this.#bytes.fill(POISON, slot.offset, slot.offset + slot.allocSize);
    this.#space.release(slot);
  }

  /** Free everything at once, in constant time. Every slot handed out before becomes foreign. */
  clear(): void {
    this.#space.clear();
  }

  /**
   * Overwrite with zeros whatever was stored, live or freed.
   *
   * Live slots stay live and read as zeros. It also covers the space beyond the bump offset that was used before,
   * because bytes freed at the end are still there.
   */
  zeroizeUsed(): void {
    this.#bytes.fill(0, 0, this.#space.takeHighestBump());
  }

  /** The free blocks by offset, for diagnosis and tests. It visits all blocks. */
  freeBlocks(): { readonly offset: number; readonly size: number }[] {
    return Array.from(this.#space.freeBlocks(), ({ offset, size }) => ({ offset, size }));
  }

  /** Clears the slab, after the leak check if that is enabled. */
  [Symbol.dispose](): void {
    assert(!this.#checkLeaks || this.isEmpty, () => `slab disposed of with ${this.liveCount} live slots`);
    this.clear();
  }

  /** Throw unless a slot is empty, or live in this slab. */
  #assertReadable(slot: ByteSlot): void {
    if (!(slot instanceof ByteSlot)) refuseSlot(slot);
    if (slot.ownerId !== 0 && !this.#space.isLive(slot)) refuseSlot(slot, this.ownerId);
  }
}

// Separate from the checks, so that those are small enough to be inlined.

function assertStorable(bytes: unknown, slot: unknown): void {
  assertBytes(bytes, "bytes");
  if (!(slot instanceof ByteSlot)) refuseSlot(slot);
  assert(slot !== EMPTY, "ByteSlot.EMPTY is shared and cannot be written to: make a new ByteSlot");
}

function refuseSlot(slot: unknown, ownerId?: number): never {
  assert(slot instanceof ByteSlot, () => `slot must be a ByteSlot, got ${nameType(slot)}`);
  assert(slot.ownerId === ownerId, "slot is of another slab, or of this one before it was cleared");
  throw new InvariantViolation("slot has been freed: its bytes may be another's by now");
}

function allocateBuffer(capacity: number): Uint8Array {
  try {
    return new Uint8Array(capacity);
  } catch {
    throw new InvariantViolation(`there is no memory for a slab of ${capacity} bytes`);
  }
}
