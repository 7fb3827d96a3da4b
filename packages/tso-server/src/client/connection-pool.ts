import type { Metrics } from "../metrics/metrics.ts";
import type { MonotonicClock, Timers } from "../time/system-time.ts";
import { Connection } from "./connection.ts";
import type { Credentials } from "./dial.ts";
import type { ClientEndpoint } from "./endpoint.ts";

/** Connections kept to servers that only a hint named. The one used longest ago goes first. */
export const MAX_HINTED_CONNECTIONS = 8;

interface PoolParts {
  readonly metrics: Metrics;
  readonly timers: Timers;
  readonly monotonicClock: MonotonicClock;
  readonly credentials: Credentials;
}

/** At most one usable connection to each endpoint. */
export class ConnectionPool {
  readonly #configured: ReadonlySet<ClientEndpoint>;
  readonly #parts: PoolParts;
  /** In the order of use: a map remembers insertion, and use inserts again. */
  readonly #connections = new Map<ClientEndpoint, Connection>();
  #last: Connection | undefined;

  constructor(configured: readonly ClientEndpoint[], parts: PoolParts) {
    this.#configured = new Set(configured);
    this.#parts = parts;
  }

  isConfigured(endpoint: ClientEndpoint): boolean {
    return this.#configured.has(endpoint);
  }

  /** The connection to an endpoint; a new one if none can be used. */
  get(endpoint: ClientEndpoint): Connection {
    // Nearly always it is the leader's, again.
    const last = this.#last;
    if (last !== undefined && last.isUsable && last.endpoint === endpoint) return last;
    const connection = this.#find(endpoint);
    this.#last = connection;
    return connection;
  }

  close(): void {
    for (const connection of this.#connections.values()) connection.close();
    this.#connections.clear();
    this.#last = undefined;
  }

  #find(endpoint: ClientEndpoint): Connection {
    const present = this.#connections.get(endpoint);
    this.#connections.delete(endpoint);
    const connection = present?.isUsable === true ? present : this.#connect(endpoint);
    this.#connections.set(endpoint, connection);
    this.#evict();
    return connection;
  }

  #connect(endpoint: ClientEndpoint): Connection {
    const { metrics, monotonicClock } = this.#parts;
    const startedAtMs = monotonicClock.nowMs();
    const onConnect = (): void =>
      metrics.histogram("tsoracle.client.connect.duration").observeMs(monotonicClock.nowMs() - startedAtMs);
    return new Connection(endpoint, { ...this.#parts, onConnect });
  }

  #evict(): void {
    const hinted = [...this.#connections.keys()].filter((endpoint) => !this.#configured.has(endpoint));
    for (const endpoint of hinted.slice(0, -MAX_HINTED_CONNECTIONS)) {
      this.#connections.get(endpoint)?.close();
      this.#connections.delete(endpoint);
    }
  }
}
