import type { Decision, MigrationState, Offer } from "@gossip/scope";

/** What another node said about a move. */
export type PeerAnswer =
  | { readonly kind: "Decided"; readonly decision: Decision }
  /** It does not take the scope, and has not decided. `reason` is a kind of `CommitError` or `AbortError`. */
  | { readonly kind: "Refused"; readonly reason: string }
  /** No answer: it may have decided. */
  | { readonly kind: "Silent" };

/** Another node of the cluster, as a move needs it. Calls never reject. */
export interface Peer {
  /** Offer a drained scope. */
  offer(offer: Offer): Promise<PeerAnswer>;
  /** Ask the target to end a move, unless it has committed. */
  abort(move: MigrationState): Promise<PeerAnswer>;
  /** Pass on how a move ended. */
  inform(decision: Decision): Promise<void>;
}

export type PeerOf = (node: string) => Peer | undefined;
