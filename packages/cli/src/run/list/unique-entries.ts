import { EntrySet } from "./entry-set.ts";

/** Leaves out entries of a list that came before. Each entry that it returns ends with the separator. */
export class UniqueEntries {
  readonly #seen = new EntrySet();
  readonly #separator: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(separator: number) {
    this.#separator = separator;
  }

  push(chunk: Uint8Array): Buffer {
    const bytes = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    const kept: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(this.#separator); end !== -1; end = bytes.indexOf(this.#separator, start)) {
      if (this.#seen.add(bytes.subarray(start, end))) kept.push(bytes.subarray(start, end + 1));
      start = end + 1;
    }
    this.#rest = bytes.subarray(start);
    return Buffer.concat(kept);
  }

  /** The last entry may have no separator. */
  end(): Buffer {
    if (this.#rest.length === 0 || !this.#seen.add(this.#rest)) return Buffer.alloc(0);
    return Buffer.concat([this.#rest, Buffer.of(this.#separator)]);
  }
}
