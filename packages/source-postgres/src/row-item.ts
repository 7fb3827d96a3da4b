import type { Item } from "@gossip/worker";

/** A row of a table. */
export class RowItem<Row extends object = Record<string, unknown>> implements Item {
  /** The primary key as a tuple. */
  readonly key: Uint8Array;
  readonly #names: readonly string[];
  readonly #values: readonly unknown[];
  /** The index of the first column in the values. */
  readonly #first: number;

  constructor(key: Uint8Array, names: readonly string[], values: readonly unknown[], first: number) {
    this.key = key;
    this.#names = names;
    this.#values = values;
    this.#first = first;
  }

  /** The columns by name, with the driver's values: a bigint is text, unless the pool has another parser. Every call creates a new object. */
  get row(): Row {
    const row: Record<string, unknown> = {};
    for (const [index, name] of this.#names.entries()) row[name] = this.#values[this.#first + index];
    return row as Row;
  }
}
