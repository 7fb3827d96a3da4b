/**
 * The engine returned a key that does not follow the one before. The file is damaged: the engine searches for a key by the
 * keys that separate its pages, and trusts them. A loop that went on might never end.
 */
export class KeysOutOfOrder extends Error {
  readonly code = "MDB_CORRUPTED";

  constructor() {
    super("the keys of the store are out of order");
  }
}

/** Throws unless a key is at or after the place where the search for it began. */
export function assertFrom(start: Uint8Array, key: Uint8Array): void {
  if (Buffer.compare(key, start) < 0) throw new KeysOutOfOrder();
}

/** Throws unless a key follows the one before. */
export function assertAfter(before: Uint8Array, key: Uint8Array): void {
  if (Buffer.compare(key, before) <= 0) throw new KeysOutOfOrder();
}

/** The same items. Throws unless their keys ascend, from `start` on. */
export function* inOrder<T>(start: Uint8Array, items: Iterable<T>, keyOf: (item: T) => Buffer): Generator<T, void> {
  let before: Buffer | undefined;
  for (const item of items) {
    const key = keyOf(item);
    if (before === undefined) assertFrom(start, key);
    else assertAfter(before, key);
    yield item;
    before = key;
  }
}
