/** Answers of a function, by what it was asked. For functions whose answer depends on nothing else. */
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
