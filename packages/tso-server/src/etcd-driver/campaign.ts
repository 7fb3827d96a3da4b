import type { EtcdClient, EtcdError, KeyValue } from "@gossip/etcd-client";
import { ok, type Result } from "@gossip/stdx";
import { Epoch } from "@gossip/tso";
import { UNKNOWN, type LeaderState } from "../driver/leader-state.ts";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { sleep, type MonotonicClock, type Timers } from "../time/system-time.ts";
import type { HighWaterKey } from "./high-water-key.ts";
import { LeaseKeeper } from "./lease-keeper.ts";

/** Pause after etcd could not be reached, and between looks at a predecessor's lease. */
const RETRY_MS = 250;

/** A change that a broken watch misses is found by looking, this often. */
const LOOK_EVERY_MS = 2000;

/** How long giving a lease back may take: if it does not succeed, the lease runs out by itself. */
const REVOKE_TIMEOUT_MS = 1000;

export interface CampaignParts {
  readonly client: EtcdClient;
  readonly highWater: HighWaterKey;
  readonly leaderKey: string;
  readonly advertise: PeerEndpoint | undefined;
  readonly leaseTtlS: number;
  readonly timers: Timers;
  readonly monotonicClock: MonotonicClock;
  readonly publish: (state: LeaderState) => void;
  readonly onFailure: (reason: string) => void;
}

/**
 * Stands for leadership for as long as the driver is open. It is always in one of these:
 *
 * - *following*: another node owns the leader key. It watches the key, and becomes a candidate as soon as it is deleted.
 * - *standing*: the key was deleted. It takes a lease and creates the key under it, unless another node is faster.
 * - *waiting out*: it holds the key, but the lease under which the bound was last written still lives, because the key was
 *   removed by hand. That leader may believe that it leads until its lease has run out, so this one waits for that.
 * - *leading*: it renews its lease, and serves until the time that the lease surely lasts.
 *
 * The epoch is the revision at which the key was made: later leaderships have greater ones.
 */
export class Campaign {
  readonly #parts: CampaignParts;
  #keeper: LeaseKeeper | undefined;
  #leaseId = 0n;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(parts: CampaignParts) {
    this.#parts = parts;
  }

  /** The lease under which this node leads. */
  get leaseId(): bigint {
    return this.#leaseId;
  }

  async run(): Promise<void> {
    let lastFailure: string | undefined;
    while (!this.#isClosed) {
      const turn = await this.#turn();
      const failure = turn.ok ? undefined : turn.error.reason;
      if (failure !== undefined && failure !== lastFailure && !this.#isClosed) this.#parts.onFailure(failure);
      lastFailure = failure;
      if (!turn.ok && !this.#isClosed) {
        this.#parts.publish(UNKNOWN);
        await this.#pause(RETRY_MS);
      }
    }
  }

  /** Stop at once, and let others stand. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#keeper?.stop();
    this.#wake();
    if (this.#leaseId !== 0n) void (await this.#parts.client.revokeLease(this.#leaseId, REVOKE_TIMEOUT_MS));
  }

  async #turn(): Promise<Result<void, EtcdError>> {
    const { client, leaderKey } = this.#parts;
    const read = await client.get(leaderKey);
    if (!read.ok) return read;
    const { found, revision } = read.value;
    if (found === undefined) return this.#stand();
    this.#parts.publish(followerOf(found));
    await this.#untilGone(revision);
    return ok();
  }

  async #stand(): Promise<Result<void, EtcdError>> {
    const { client, leaderKey, advertise, leaseTtlS, monotonicClock } = this.#parts;
    const askedAtMs = monotonicClock.nowMs();
    const lease = await client.grantLease(leaseTtlS);
    if (!lease.ok) return lease;
    const { leaseId, ttlS } = lease.value;
    this.#leaseId = leaseId;
    const stood = await client.txn({
      compare: [{ key: leaderKey, target: "CREATE", is: "EQUAL", revision: 0n }],
      success: [{ put: leaderKey, value: advertise ?? "", leaseId }],
      failure: [],
    });
    if (stood.ok && stood.value.succeeded && !this.#isClosed)
      await this.#lead(Epoch.fromRaw(stood.value.revision), { leaseId, ttlS, askedAtMs });
    // Lost the race, lost the lease, closed, or not known whether the key was made: without the lease it is gone for sure.
    this.#leaseId = 0n;
    void (await client.revokeLease(leaseId, REVOKE_TIMEOUT_MS));
    return stood.ok ? ok() : stood;
  }

  async #lead(
    epoch: Epoch,
    lease: { readonly leaseId: bigint; readonly ttlS: number; readonly askedAtMs: number },
  ): Promise<void> {
    const { client, publish, timers, monotonicClock } = this.#parts;
    let isLost = false;
    const lose = (): void => {
      isLost = true;
      this.#wake();
    };
    const keeper = new LeaseKeeper({ client, timers, monotonicClock, ...lease, onLost: lose });
    this.#keeper = keeper;
    const isOver = (): boolean => isLost || this.#isClosed;
    await this.#outwaitPredecessor(lease.leaseId, isOver);
    if (!isOver()) publish({ kind: "Leader", epoch, servesUntilMs: () => keeper.untilMs });
    while (!isOver()) {
      // A key removed by hand ends the leadership at once, whatever the lease says.
      if (await this.#hasChanged(epoch, isOver)) lose();
    }
    keeper.stop();
    if (!this.#isClosed) publish(UNKNOWN);
  }

  /** Wait until no leader before this one can still believe that it leads. */
  async #outwaitPredecessor(ownLeaseId: bigint, isOver: () => boolean): Promise<void> {
    const { client, highWater } = this.#parts;
    while (!isOver()) {
      const last = await highWater.load();
      // An unreadable bound stops the fence later. It gives no information about a predecessor here.
      if (!last.ok && last.error.kind === "PermanentDriver") return;
      if (last.ok) {
        if (last.value === undefined || last.value.leaseId === ownLeaseId) return;
        const alive = await client.isLeaseAlive(last.value.leaseId);
        if (alive.ok && !alive.value) return;
      }
      await this.#pause(RETRY_MS);
    }
  }

  /** Watch the leader key for as long as it is the one made at `epoch`. Answers whether it no longer is. */
  async #hasChanged(epoch: Epoch, isOver: () => boolean): Promise<boolean> {
    await this.#untilGone(epoch);
    if (isOver()) return false;
    const read = await this.#parts.client.get(this.#parts.leaderKey);
    return read.ok && read.value.found?.createRevision !== epoch;
  }

  /** Resolves when the leader key changes after `revision`, after a while in any case, or when woken. */
  async #untilGone(revision: bigint): Promise<void> {
    const { client, leaderKey, timers } = this.#parts;
    let stopWatching = (): void => {};
    let cancelTimer = (): void => {};
    await new Promise<void>((resolve) => {
      if (this.#isClosed) return resolve();
      this.#wake = resolve;
      cancelTimer = timers.after(LOOK_EVERY_MS, resolve);
      stopWatching = client.watch(
        leaderKey,
        revision + 1n,
        () => resolve(),
        () => {},
      );
      return undefined;
    });
    this.#wake = () => {};
    stopWatching();
    cancelTimer();
  }

  async #pause(delayMs: number): Promise<void> {
    if (!this.#isClosed) await sleep(this.#parts.timers, delayMs);
  }
}

function followerOf(leader: KeyValue): LeaderState {
  const endpoint = PeerEndpoint.parse(leader.value.toString());
  return {
    kind: "Follower",
    leaderEpoch: Epoch.fromRaw(leader.createRevision),
    ...(endpoint.ok ? { leaderEndpoint: endpoint.value } : {}),
  };
}
