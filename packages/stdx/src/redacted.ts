const REDACTED = "<redacted>";

/**
 * A value that logs, JSON and string conversion show as `<redacted>`.
 *
 * It guards against leaking by accident, and only that: whoever holds the
 * wrapper may `reveal` it.
 */
export class Redacted<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  static reveal<T>(redacted: Redacted<T>): T {
    return redacted.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  // The registered symbol, not `node:util`: this package runs anywhere.
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return REDACTED;
  }
}
