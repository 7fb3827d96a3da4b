/** How many free slots are tried for a branch before it is put at the end. */
const MAX_TRIES = 16;

/** How far behind the last slot in use a free one is still tried. */
const WINDOW = 4_096;

/** One more than the greatest label: the 256 bytes and "otherwise". */
const LABELS = 257;

/** Bits of a slot's tag that hold its label. */
const LABEL_BITS = 9;

/**
 * Places branches into one array so that their slots interleave and never collide.
 *
 * A branch at base `b` has slot `b + label` for each of its labels. No two branches have one base, so
 * the label in a slot proves whose slot it is.
 *
 * The number of tries is bounded, so placing all branches is linear in their labels. The cost is a few
 * empty slots (measured: one in ten, for names and for random bytes).
 */
export class SlotTable {
  #capacity = 2_048;
  // Pairs: tag, next. A tag of 0 is a free slot.
  #words = new Int32Array(2 * this.#capacity);
  #isBase = new Uint8Array(this.#capacity);
  // A linked list of the free slots from `#firstFree` on, in ascending order. `#before` of the first is stale and unused.
  #after = ascending(this.#capacity, 1);
  #before = ascending(this.#capacity, -1);
  #firstFree = 0;
  #end = 0;

  /** Assigns a slot to each of the first `count` labels, which ascend. Returns the base. */
  place(labels: Uint16Array, count: number): number {
    // A base is at most the end, and its last slot less than LABELS beyond it. One more slot keeps the list intact.
    while (this.#end + LABELS >= this.#capacity) this.#grow();

    const base = this.#fit(labels, count) ?? this.#end;
    this.#isBase[base] = 1;
    for (let index = 0; index < count; index++) this.#take(base + labels[index]!, labels[index]!);
    this.#end = Math.max(this.#end, base + labels[count - 1]! + 1);
    return base;
  }

  /** Point a slot to a branch. */
  leadToBranch(slot: number, { base, depth }: { readonly base: number; readonly depth: number }): void {
    this.#words[2 * slot]! |= depth << LABEL_BITS;
    this.#words[2 * slot + 1] = base;
  }

  /** Point a slot to a record. */
  leadToRecord(slot: number, record: number): void {
    this.#words[2 * slot + 1] = ~record;
  }

  /** All slots, followed by as many free ones as a search can reach. */
  toWords(): Int32Array {
    return this.#words.slice(0, 2 * (this.#end + LABELS));
  }

  #fit(labels: Uint16Array, count: number): number | undefined {
    while (this.#end - this.#firstFree > WINDOW) this.#firstFree = this.#after[this.#firstFree]!;
    let slot = this.#firstFree;
    for (let tries = 0; tries < MAX_TRIES && slot < this.#end; tries++) {
      const base = slot - labels[0]!;
      if (base >= 0 && this.#isBase[base] === 0 && this.#isFree(base, labels, count)) return base;
      slot = this.#after[slot]!;
    }
    return undefined;
  }

  #isFree(base: number, labels: Uint16Array, count: number): boolean {
    for (let index = 1; index < count; index++) {
      if (this.#words[2 * (base + labels[index]!)] !== 0) return false;
    }
    return true;
  }

  #take(slot: number, label: number): void {
    this.#words[2 * slot] = label + 1;
    const after = this.#after[slot]!;
    if (slot === this.#firstFree) this.#firstFree = after;
    else this.#after[this.#before[slot]!] = after;
    this.#before[after] = this.#before[slot]!;
  }

  #grow(): void {
    const capacity = 2 * this.#capacity;
    this.#words = widen(this.#words, new Int32Array(2 * capacity));
    this.#isBase = widen(this.#isBase, new Uint8Array(capacity));
    this.#after = widen(this.#after, ascending(capacity, 1));
    this.#before = widen(this.#before, ascending(capacity, -1));
    this.#capacity = capacity;
  }
}

function ascending(count: number, offset: number): Int32Array {
  const numbers = new Int32Array(count);
  for (let index = 0; index < count; index++) numbers[index] = index + offset;
  return numbers;
}

function widen<T extends Uint8Array | Int32Array>(narrow: T, wide: T): T {
  wide.set(narrow);
  return wide;
}
