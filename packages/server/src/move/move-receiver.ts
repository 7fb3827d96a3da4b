import type { Change, Decision, MigrationState, Offer } from "@gossip/scope";
import type { Result } from "@gossip/stdx";
import type { ClusterMember } from "./cluster-member.ts";
import type { Peer, PeerAnswer } from "./peer.ts";

export interface MoveReceiverOptions {
  readonly member: ClusterMember;
  /** The cluster's clock. Rejects if it has no time. */
  readonly nowMs: () => Promise<number>;
  /** Called before a scope is taken. Returns why it cannot be. */
  readonly check?: ((offer: Offer) => Promise<string | undefined>) | undefined;
  /** Called after this node has decided a move, to tidy up what was shipped. */
  readonly decided?: (() => Promise<void>) | undefined;
}

/** What other nodes may ask this one about moves: as the target it decides, as any other node it takes note. */
export class MoveReceiver implements Peer {
  readonly #options: MoveReceiverOptions;

  constructor(options: MoveReceiverOptions) {
    this.#options = options;
  }

  async offer(offer: Offer): Promise<PeerAnswer> {
    const { member, nowMs, check, decided } = this.#options;
    const { id } = offer.migration;
    const known = member.node.decisionFor(id);
    const problem = known === undefined ? await check?.(offer) : undefined;
    if (problem !== undefined) return { kind: "Refused", reason: problem };
    const now = await nowMs();
    const answer = this.#answer(id, await member.change((node) => node.commit(offer, now)));
    await decided?.();
    return answer;
  }

  async abort(move: MigrationState): Promise<PeerAnswer> {
    const { member, decided } = this.#options;
    const answer = this.#answer(move.id, await member.change((node) => node.abort(move)));
    await decided?.();
    return answer;
  }

  async inform(decision: Decision): Promise<void> {
    // A refusal means that this node knows better.
    void (await this.#options.member.change((node) => node.settle(decision)));
  }

  #answer(id: string, changed: Result<Change, { readonly kind: string }>): PeerAnswer {
    const decision = this.#options.member.node.decisionFor(id);
    if (decision !== undefined) return { kind: "Decided", decision };
    return { kind: "Refused", reason: changed.ok ? "UnknownMigration" : changed.error.kind };
  }
}
