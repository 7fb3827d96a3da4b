/**
 * One value for each scope of a table, made on first use and kept, so that `route` can return an object without
 * allocating.
 */
export class PerScope<T extends object> {
  readonly #count: number;
  readonly #make: (position: number) => T;
  // Empty until first used: most tables do not need every kind of verdict.
  #values: (T | undefined)[] = [];

  constructor(count: number, make: (position: number) => T) {
    this.#count = count;
    this.#make = make;
  }

  at(position: number): T {
    if (this.#values.length === 0) this.#values = blank(this.#count);
    return (this.#values[position] ??= this.#make(position));
  }
}

/** A list to fill in later. Items are pushed one by one: reading a hole in an array would search its prototype. */
function blank(count: number): undefined[] {
  const list: undefined[] = [];
  for (let index = 0; index < count; index++) list.push(undefined);
  return list;
}
