import { OwnershipTable, Scope } from "@gossip/scope";
import { unwrap } from "@gossip/stdx";
import type { ClusterMember } from "./cluster-member.ts";
import type { FenceRegister, Takeover } from "./fence-register.ts";

export interface FenceOptions {
  readonly member: ClusterMember;
  readonly register: FenceRegister;
  /** A clock that only counts how much time has passed. */
  readonly monotonicMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** How often the register is read. */
  readonly checkMs?: number;
  /** How long a node may write after it began to read that it is not declared down. */
  readonly leaseMs?: number;
  /** How long a fallback waits before it writes: longer than the lease, so that the writer has stopped. */
  readonly waitMs?: number;
}

/**
 * Keeps a writer and its fallback apart.
 *
 * A node may execute requests for a scope that has a fallback only if it has read, not long ago, that it is not declared
 * down. A fallback takes over only after the declaration has been readable for longer than that. So the writer it replaces
 * has seen the declaration, or has stopped because it could not read, whether it is dead, cut off or merely slow. Both
 * sides measure how long something takes and compare no clocks.
 *
 * A takeover raises the epoch and is journaled like every change of the table. The replaced writer finds it when it comes
 * back, and stays out.
 */
export class Fence {
  readonly #options: Required<FenceOptions>;
  readonly #seenAtMs = new Map<string, number>();
  #validUntilMs = -1;
  #isStopped = false;

  constructor(options: FenceOptions) {
    this.#options = { checkMs: 1_000, leaseMs: 5_000, waitMs: 6_000, ...options };
  }

  /** Whether this node knows that it is not declared down. */
  get isValid(): boolean {
    return this.#options.monotonicMs() < this.#validUntilMs;
  }

  /** Read the register, again and again, until stopped. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      await this.check();
      await this.#options.sleep(this.#options.checkMs);
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Read the register once, and act on it. */
  async check(): Promise<void> {
    const { member, register, monotonicMs, leaseMs, waitMs } = this.#options;
    const startedMs = monotonicMs();
    let takeovers: readonly Takeover[];
    try {
      takeovers = await register.list();
    } catch {
      // Without the register this node stops when its lease ends.
      return;
    }
    for (const takeover of takeovers) {
      const key = `${takeover.node}/${takeover.by}`;
      const seenAtMs = this.#seenAtMs.get(key) ?? monotonicMs();
      this.#seenAtMs.set(key, seenAtMs);
      if (takeover.by === member.self && monotonicMs() - seenAtMs < waitMs) continue;
      await this.#apply(takeover);
    }
    if (!takeovers.some(({ node }) => node === member.self)) this.#validUntilMs = startedMs + leaseMs;
  }

  async #apply({ node, by }: Takeover): Promise<void> {
    const { member } = this.#options;
    const table = takenOver(member.node.snapshot.table, { node, by });
    if (table === undefined) return;
    const isParty = member.self === node || member.self === by;
    // A scope that moves is left to its move.
    void (await member.change((owner) => owner.reload(table, { force: isParty })));
  }
}

/** The table after a takeover; `undefined` if it changes nothing. */
function takenOver(table: OwnershipTable, { node, by }: Takeover): OwnershipTable | undefined {
  const scopes = table.scopes();
  const isTaken = ({ writer, fallback }: Scope): boolean => writer === node && fallback === by;
  if (!scopes.some(isTaken)) return undefined;
  return unwrap(
    OwnershipTable.build(
      scopes.map((scope) => (isTaken(scope) ? new Scope({ prefix: scope.prefix, writer: by }) : scope)),
      { nested: table.nested },
    ),
  );
}
