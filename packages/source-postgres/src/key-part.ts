/**
 * One part of a bound, read as a value of its column.
 *
 * - `Whole`   — a value, followed by more bytes.
 * - `Partial` — no value of the column has exactly these bytes; all values above them are at or above `value`.
 * - `Below`   — the bytes are below every value of the column, or the least value above them has no simple form.
 * - `Above`   — the bytes are above every value of the column.
 */
export type KeyPart =
  | { readonly kind: "Whole"; readonly value: string; readonly next: number }
  | { readonly kind: "Partial"; readonly value: string }
  | { readonly kind: "Below" }
  | { readonly kind: "Above" };

export const BELOW: KeyPart = { kind: "Below" };
export const ABOVE: KeyPart = { kind: "Above" };
