/** Items that are finished and stored. */
export interface ItemTotals {
  readonly items: number;
  /** How many of them failed and were skipped. */
  readonly failed: number;
  /** Problems that the source reported, such as unreadable folders. Not included in `items`. */
  readonly unreadable: number;
}

export const NO_ITEMS: ItemTotals = { items: 0, failed: 0, unreadable: 0 };

const VERSION = 0x48;
const HEAD_SIZE = 25;
/** Tokens without `unreadable`, as versions before 0.2 wrote them. */
const OLD_VERSION = 0x47;
const OLD_HEAD_SIZE = 17;

/**
 * Encode a cursor token: the totals up to the cursor, followed by the token of the sink that stores the results.
 *
 * It is stored in the write that moves the cursor, so the totals are exact after any crash. The run's totals are the
 * sum over all shards that were not split.
 */
export function encodeTotalsToken({ items, failed, unreadable }: ItemTotals, inner: Uint8Array): Uint8Array {
  const token = new Uint8Array(HEAD_SIZE + inner.length);
  const view = new DataView(token.buffer);
  token[0] = VERSION;
  view.setBigUint64(1, BigInt(items));
  view.setBigUint64(9, BigInt(failed));
  view.setBigUint64(17, BigInt(unreadable));
  token.set(inner, HEAD_SIZE);
  return token;
}

/** Returns `undefined` for a token of another program. */
export function decodeTotalsToken(
  token: Uint8Array | undefined,
): (ItemTotals & { readonly inner: Uint8Array }) | undefined {
  const isOld = token?.[0] === OLD_VERSION;
  const headSize = isOld ? OLD_HEAD_SIZE : HEAD_SIZE;
  if (token === undefined || token.length < headSize || !(isOld || token[0] === VERSION)) return undefined;
  const view = new DataView(token.buffer, token.byteOffset, token.length);
  return {
    items: Number(view.getBigUint64(1)),
    failed: Number(view.getBigUint64(9)),
    unreadable: isOld ? 0 : Number(view.getBigUint64(17)),
    inner: token.slice(headSize),
  };
}
