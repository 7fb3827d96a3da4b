import { assert, nameType } from "./assert.ts";
import { INSPECT } from "./inspect-symbol.ts";

const REDACTED = "<redacted>";

/**
 * A value that logs, JSON and string conversion show as `<redacted>`.
 *
 * It prevents accidental leaks only: any code that holds the wrapper can `reveal` it. A clone by `structuredClone` is
 * an empty object.
 *
 * Test frameworks cannot see the content either: reveal both values to compare them.
 */
export class Redacted<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  static reveal<T>(redacted: Redacted<T>): T {
    const isRedacted = typeof redacted === "object" && redacted !== null && #value in redacted;
    assert(isRedacted, () => `only a Redacted can be revealed, got ${nameType(redacted)}`);
    return redacted.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [INSPECT](): string {
    return REDACTED;
  }
}
