/**
 * Why a store could not be opened. None of these shows a user, a password or a key.
 *
 * - `Unavailable`       — no member could be reached, or none answered in time.
 * - `Refused`           — etcd did not let us: a wrong password, or a user that may not use the prefix. `code` is gRPC's.
 * - `NotAStore`         — something else is below the prefix.
 * - `NewerFormat`       — a later version of this package has written it. Bring this one up to date.
 * - `TxnBudgetTooSmall` — the server takes fewer operations in a transaction than we need: raise its `--max-txn-ops`.
 */
export type EtcdOpenError =
  | { readonly kind: "Unavailable"; readonly reason: string }
  | { readonly kind: "Refused"; readonly code: number; readonly reason: string }
  | { readonly kind: "NotAStore" }
  | { readonly kind: "NewerFormat"; readonly found: number; readonly supported: number }
  | { readonly kind: "TxnBudgetTooSmall"; readonly needed: number };
