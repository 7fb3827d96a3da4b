/**
 * A set of 32-bit names that is emptied again and again.
 *
 * A `Set` for each batch would be made anew, grow as it is filled, and take as long as the rest of putting the batch together. This is
 * memory that is kept.
 */
export class NameTable {
  #names = new Int32Array(0);
  /** Which places hold a name. */
  #isTaken = new Uint8Array(0);
  /** The last of the places that are used. */
  #last = 0;

  /** Forget all names, and make room for `count` of them, at least one. */
  clear(count: number): void {
    // At least half of the places stay empty, so that a name is found, or seen not to be there, after a step or two.
    const size = 2 ** Math.ceil(Math.log2(2 * count));
    this.#last = size - 1;
    if (size <= this.#names.length) {
      this.#isTaken.fill(0, 0, size);
      return;
    }
    this.#names = new Int32Array(size);
    this.#isTaken = new Uint8Array(size);
  }

  /** Add a name, and say whether it was not there. There must be room for it. */
  add(name: number): boolean {
    let place = spread(name) & this.#last;
    for (; this.#isTaken[place] === 1; place = (place + 1) & this.#last) {
      if (this.#names[place] === name) return false;
    }
    this.#isTaken[place] = 1;
    this.#names[place] = name;
    return true;
  }
}

/** Names that differ in any of their bits differ in the lower ones. */
function spread(name: number): number {
  const mixed = Math.imul(name ^ (name >>> 16), 0x85eb_ca6b);
  return mixed ^ (mixed >>> 13);
}
