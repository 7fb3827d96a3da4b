const PRIME = 0x01000193;

/** A hash of a sequence of lines: two 32-bit FNV-1a sums with different offsets. */
export class TraceHash {
  #low = 0x811c9dc5;
  #high = 0x1b873593;

  add(line: string): void {
    for (let index = 0; index < line.length; index++) {
      const unit = line.charCodeAt(index);
      this.#low = Math.imul(this.#low ^ unit, PRIME);
      this.#high = Math.imul(this.#high ^ unit ^ 0x5a, PRIME);
    }
    this.#low = Math.imul(this.#low ^ 10, PRIME);
    this.#high = Math.imul(this.#high ^ 13, PRIME);
  }

  /** Sixteen hex digits. */
  digest(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
  }
}
