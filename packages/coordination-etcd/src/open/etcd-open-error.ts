import { EtcdCode } from "@gossip/etcd-client";
import { assert } from "@gossip/stdx";

/**
 * Why a store could not be opened. None of these includes a user, a password or a key.
 *
 * - `Unavailable`       — no member could be reached, or none responded in time.
 * - `Refused`           — etcd rejected the request: a wrong password, a user without access to the prefix, or a full
 *   disk. `code` is gRPC's.
 * - `NotAStore`         — there are other keys under the prefix.
 * - `NewerFormat`       — a later version of this package wrote it. Upgrade this one.
 * - `TxnBudgetTooSmall` — the server accepts too few operations per transaction: raise its `--max-txn-ops`.
 */
export type EtcdOpenError =
  | { readonly kind: "Unavailable"; readonly reason: string }
  | { readonly kind: "Refused"; readonly code: number; readonly reason: string }
  | { readonly kind: "NotAStore" }
  | { readonly kind: "NewerFormat"; readonly found: number; readonly supported: number }
  | { readonly kind: "TxnBudgetTooSmall"; readonly needed: number };

type Sentences = {
  readonly [K in EtcdOpenError["kind"]]: (error: Extract<EtcdOpenError, { readonly kind: K }>) => string;
};

const SENTENCES: Sentences = {
  Unavailable: ({ reason }) => `no member answers (${reason}); start one, or correct host and port`,
  Refused: ({ code, reason }) => refusal(code, reason),
  NotAStore: () => "something else is below the prefix; use another",
  NewerFormat: ({ found, supported }) =>
    `the store has format ${found}, and this version knows up to ${supported}; use the newer version that made it`,
  TxnBudgetTooSmall: ({ needed }) =>
    `the server takes fewer than ${needed} operations in a transaction; start it with --max-txn-ops=${needed} or more`,
};

/**
 * Describes the problem and what to do about it, in one sentence for people. Leaves out the members and the prefix,
 * which the caller knows.
 */
export function etcdOpenErrorMessage(error: EtcdOpenError): string {
  assert(typeof error === "object" && error !== null, "error must be one of openEtcdStore");
  if (!Object.hasOwn(SENTENCES, error.kind)) return "the store cannot be opened, for an unknown reason";
  return (SENTENCES[error.kind] as (error: EtcdOpenError) => string)(error);
}

function refusal(code: number, reason: string): string {
  switch (code) {
    // etcd returns this code for a wrong password.
    case EtcdCode.InvalidArgument:
    case EtcdCode.Unauthenticated:
      return `etcd refuses the login (${reason}); correct user and password`;
    case EtcdCode.PermissionDenied:
      return `the user may not use the prefix (${reason}); grant it to read and write there`;
    case EtcdCode.ResourceExhausted:
      return `etcd has run out of room (${reason}); compact and defragment it, or raise --quota-backend-bytes`;
    default:
      return `etcd refused (${reason}, code ${code}); look at its log, then try again`;
  }
}
