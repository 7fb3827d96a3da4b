import type { ShardId } from "@gossip/contracts";
import type { ClaimCandidate } from "@gossip/coordination";

/** What one claim was given. */
interface Share {
  readonly shards: readonly ClaimCandidate[];
  readonly givenMs: number;
}

/** How long a share is reserved for its claim. A claim tries its share at once or never. */
const MAX_AGE_MS = 200;

/** Candidates that claims of this process were given and have not tried yet. Only advice: the guards decide what a claim may write. */
export class HandedOut {
  readonly #shares = new Set<Share>();
  readonly #byShard = new Map<ShardId, Share>();
  /** Shares tried since the current listing began; `undefined` if there is none. */
  #tried: Set<Share> | undefined;
  #wake: (() => void) | undefined;

  /** Begins a listing. It may still find shards that are claimed meanwhile, so those count as handed out until it ends. */
  beginListing(): void {
    this.#tried = new Set();
  }

  endListing(): void {
    const tried = this.#tried;
    this.#tried = undefined;
    for (const share of tried ?? []) this.#drop(share);
  }

  /** The candidates that are not handed out. */
  freshOf(candidates: readonly ClaimCandidate[]): readonly ClaimCandidate[] {
    this.#dropOld();
    return candidates.filter(({ shard }) => !this.#byShard.has(shard));
  }

  add(shards: readonly ClaimCandidate[]): void {
    if (shards.length === 0) return;
    this.#dropOld();
    const share = { shards, givenMs: performance.now() };
    this.#shares.add(share);
    for (const { shard } of shards) this.#byShard.set(shard, share);
  }

  /** A claim tries everything that it wants of its share at once. The rest is free for others. */
  noteTried(shard: ShardId): void {
    const share = this.#byShard.get(shard);
    if (share === undefined) return;
    if (this.#tried === undefined) this.#drop(share);
    else this.#tried.add(share);
  }

  /** Waits until every share was tried or is too old. */
  untilTried(): Promise<void> {
    if (this.#shares.size === 0) return Promise.resolve();
    return new Promise((settle) => {
      const timer = setTimeout(() => {
        for (const share of this.#shares) this.#drop(share);
      }, MAX_AGE_MS);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        settle();
      };
    });
  }

  /** Drops the shares of claims that never tried them. */
  #dropOld(): void {
    const nowMs = performance.now();
    // Oldest first.
    for (const share of this.#shares) {
      if (nowMs - share.givenMs <= MAX_AGE_MS) return;
      this.#drop(share);
    }
  }

  #drop(share: Share): void {
    for (const { shard } of share.shards) if (this.#byShard.get(shard) === share) this.#byShard.delete(shard);
    this.#shares.delete(share);
    if (this.#shares.size === 0) this.#wake?.();
  }
}
