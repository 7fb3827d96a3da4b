import { EtcdClient, type EtcdOptions } from "@gossip/etcd-client";
import { assert, err, ok, type Result } from "@gossip/stdx";
import { isPhysicalMs, type Epoch } from "@gossip/tso";
import { assertObject } from "@gossip/stdx/internal";
import { assertArray } from "../assert-input.ts";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import type { DriverError } from "../driver/driver-error.ts";
import type { LeaderState } from "../driver/leader-state.ts";
import { LeadershipFeed } from "../driver/leadership-feed.ts";
import type { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { systemMonotonicClock, systemTimers, type MonotonicClock, type Timers } from "../time/system-time.ts";
import { Campaign } from "./campaign.ts";
import { HighWaterKey } from "./high-water-key.ts";

export interface EtcdDriverOptions extends Pick<EtcdOptions, "endpoints" | "username" | "password" | "tls"> {
  /** Where clients reach this node's framed protocol. Other nodes send their clients there. */
  readonly advertise?: PeerEndpoint;
  /** Oracles with different prefixes are independent. */
  readonly prefix?: string;
  /** How long after its last sign of life a leader is replaced. etcd insists on at least a second or two. */
  readonly leaseTtlS?: number;
  readonly requestTimeoutMs?: number;
  /** Called when etcd refuses or cannot be reached, once for each reason in a row. */
  readonly onFailure?: (reason: string) => void;
  readonly timers?: Timers;
  readonly monotonicClock?: MonotonicClock;
}

/**
 * A driver for several nodes that share an etcd: one is elected, the others stand by.
 *
 *   PREFIX/leader       the leader's endpoint; lives and dies with the leader's lease; made at revision E, the epoch
 *   PREFIX/high-water   the bound and the lease it was written under; stays
 */
export class EtcdDriver implements ConsensusDriver {
  readonly #client: EtcdClient;
  readonly #highWater: HighWaterKey;
  readonly #campaign: Campaign;
  readonly #feed = new LeadershipFeed();
  readonly #running: Promise<void>;
  #lastRaise: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(options: EtcdDriverOptions) {
    assertObject(options, "the options of an etcd driver");
    assertArray(options.endpoints, "the list of etcd's endpoints");
    const { endpoints, advertise, prefix = "gossip-tso", leaseTtlS = 3, requestTimeoutMs = 2000 } = options;
    const { timers = systemTimers, monotonicClock = systemMonotonicClock } = options;
    assert(Number.isInteger(leaseTtlS) && leaseTtlS >= 1, "leaseTtlS is a whole number of seconds, at least 1");
    const leaderKey = `${prefix}/leader`;
    const { username, password, tls } = options;
    const login = username === undefined || password === undefined ? {} : { username, password };
    this.#client = new EtcdClient({ endpoints, timers, requestTimeoutMs, ...login, ...(tls && { tls }) });
    this.#highWater = new HighWaterKey(this.#client, { key: `${prefix}/high-water`, leaderKey });
    this.#campaign = new Campaign({
      client: this.#client,
      highWater: this.#highWater,
      leaderKey,
      advertise,
      leaseTtlS,
      timers,
      monotonicClock,
      publish: (state) => this.#feed.publish(state),
      onFailure: options.onFailure ?? (() => {}),
    });
    this.#running = this.#campaign.run();
  }

  leadershipEvents(): AsyncIterable<LeaderState> {
    return this.#feed.events();
  }

  async loadHighWater(): Promise<Result<number, DriverError>> {
    const loaded = await this.#highWater.load();
    return loaded.ok ? ok(loaded.value?.highWaterMs ?? 0) : loaded;
  }

  async persistHighWater(atLeastMs: number, epoch: Epoch): Promise<Result<number, DriverError>> {
    if (!isPhysicalMs(atLeastMs)) return err({ kind: "AdvanceOutOfRange", physicalMs: atLeastMs });
    // One after the other: answers to several at once could overtake one another on their way back.
    const raised = this.#lastRaise.then(() =>
      this.#highWater.raise({ highWaterMs: atLeastMs, leaseId: this.#campaign.leaseId }, epoch),
    );
    this.#lastRaise = raised;
    return raised;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#campaign.close();
    await this.#running;
    this.#feed.close();
    this.#client.close();
  }
}
