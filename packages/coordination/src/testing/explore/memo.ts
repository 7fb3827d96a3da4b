/** The results of a pure function, by its argument. */
export class Memo<Value> {
  readonly #values = new Map<string, Value>();

  recall(key: string, make: () => Value): Value {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#values.set(key, made);
    return made;
  }
}
