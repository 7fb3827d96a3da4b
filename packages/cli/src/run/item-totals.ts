/** Items that are finished and stored. */
export interface ItemTotals {
  readonly items: number;
  /** Of them, those that failed and were passed over. */
  readonly failed: number;
}

export const NO_ITEMS: ItemTotals = { items: 0, failed: 0 };

const VERSION = 0x47;
const HEAD_SIZE = 17;

/**
 * A cursor's token that says how many items lie behind it, before the token of whoever keeps the results.
 *
 * It travels in the write that moves the cursor, so the counts are exact after any crash, and the sum over the shards
 * that were not split is that of the run.
 */
export function encodeTotalsToken({ items, failed }: ItemTotals, inner: Uint8Array): Uint8Array {
  const token = new Uint8Array(HEAD_SIZE + inner.length);
  const view = new DataView(token.buffer);
  token[0] = VERSION;
  view.setBigUint64(1, BigInt(items));
  view.setBigUint64(9, BigInt(failed));
  token.set(inner, HEAD_SIZE);
  return token;
}

/** `undefined` for a token of somebody else. */
export function decodeTotalsToken(
  token: Uint8Array | undefined,
): (ItemTotals & { readonly inner: Uint8Array }) | undefined {
  if (token === undefined || token.length < HEAD_SIZE || token[0] !== VERSION) return undefined;
  const view = new DataView(token.buffer, token.byteOffset, token.length);
  return { items: Number(view.getBigUint64(1)), failed: Number(view.getBigUint64(9)), inner: token.slice(HEAD_SIZE) };
}

export function addTotals(a: ItemTotals, b: ItemTotals): ItemTotals {
  return { items: a.items + b.items, failed: a.failed + b.failed };
}
