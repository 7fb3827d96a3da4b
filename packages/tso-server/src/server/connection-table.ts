import type { Socket } from "node:net";
import type { Counter, Metrics } from "../metrics/metrics.ts";
import type { MonotonicClock, Timers } from "../time/system-time.ts";
import type { ServerLimits } from "./server-limits.ts";

/** A connection whose limits the table watches. */
export interface WatchedConnection {
  /** Whether a timeout has passed at `nowMs`. */
  isOverdue(nowMs: number): boolean;
  destroy(): void;
}

export interface ConnectionTableParts {
  readonly limits: ServerLimits;
  readonly metrics: Metrics;
  readonly timers: Timers;
  readonly monotonicClock: MonotonicClock;
}

const LONGEST_SWEEP_MS = 1000;

/**
 * Counts the open connections of one protocol, and drops those that break a limit.
 *
 * One timer sweeps all of them, instead of several timers for each: a timeout is noticed up to a quarter late, and at most a
 * second.
 */
export class ConnectionTable {
  readonly limits: ServerLimits;
  readonly monotonicClock: MonotonicClock;
  readonly #timers: Timers;
  readonly #sweepMs: number;
  readonly #refused: Counter;
  readonly #dropped: Counter;
  readonly #perAddress = new Map<string, number>();
  readonly #watched = new Set<WatchedConnection>();
  /** Bytes that wait to be sent, by connection; the one that has waited for longest comes first. */
  readonly #unsent = new Map<WatchedConnection, number>();
  #unsentBytes = 0;
  /** Bytes that were read and are not answered yet, by connection. */
  readonly #unanswered = new Map<WatchedConnection, number>();
  #unansweredBytes = 0;
  #open = 0;
  #cancelSweep: (() => void) | undefined;

  constructor({ limits, metrics, timers, monotonicClock }: ConnectionTableParts) {
    this.limits = limits;
    this.monotonicClock = monotonicClock;
    this.#timers = timers;
    this.#refused = metrics.counter("tsoracle.connection.refused.total");
    this.#dropped = metrics.counter("tsoracle.connection.dropped.total");
    const shortestMs = Math.min(limits.prefaceTimeoutMs, limits.idleTimeoutMs, limits.unsentTimeoutMs);
    this.#sweepMs = Math.min(LONGEST_SWEEP_MS, Math.max(1, Math.floor(shortestMs / 4)));
  }

  /** How many connections are open. */
  get open(): number {
    return this.#open;
  }

  /** How many bytes wait to be sent. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Count a new connection until it closes. Returns `false`, and closes it, if there are too many. */
  admit(socket: Socket): boolean {
    const { maxConnections, maxConnectionsPerAddress } = this.limits;
    const address = socket.remoteAddress;
    const ofAddress = address === undefined ? 0 : (this.#perAddress.get(address) ?? 0);
    if (this.#open >= maxConnections || ofAddress >= maxConnectionsPerAddress) {
      this.#refused.add();
      socket.destroy();
      return false;
    }
    this.#open += 1;
    if (address !== undefined) this.#perAddress.set(address, ofAddress + 1);
    socket.once("close", () => this.#release(address));
    return true;
  }

  /** Drop `connection` as soon as a sweep finds it overdue. */
  watch(connection: WatchedConnection): void {
    this.#watched.add(connection);
    this.#cancelSweep ??= this.#timers.after(this.#sweepMs, () => this.#sweep(), "background");
  }

  /** Note how many bytes wait to be sent to a connection, and drop connections if that is too much. */
  setUnsent(connection: WatchedConnection, bytes: number): void {
    this.#unsentBytes += bytes - (this.#unsent.get(connection) ?? 0);
    if (bytes === 0) this.#unsent.delete(connection);
    else this.#unsent.set(connection, bytes);
    if (bytes > this.limits.maxUnsentBytesPerConnection) this.#drop(connection);
    for (const [longest] of this.#unsent) {
      if (this.#unsentBytes <= this.limits.maxUnsentBytes) break;
      this.#drop(longest);
    }
  }

  /** Note how many bytes were read from a connection and are not answered yet, and drop it if that is too much. */
  setUnanswered(connection: WatchedConnection, bytes: number): void {
    this.#unansweredBytes += bytes - (this.#unanswered.get(connection) ?? 0);
    if (bytes === 0) this.#unanswered.delete(connection);
    else this.#unanswered.set(connection, bytes);
    const { maxUnansweredBytes } = this.limits;
    if (this.#unansweredBytes > maxUnansweredBytes && bytes > maxUnansweredBytes / this.#open) this.#drop(connection);
  }

  forget(connection: WatchedConnection): void {
    this.#watched.delete(connection);
    this.#unsentBytes -= this.#unsent.get(connection) ?? 0;
    this.#unsent.delete(connection);
    this.#unansweredBytes -= this.#unanswered.get(connection) ?? 0;
    this.#unanswered.delete(connection);
    if (this.#watched.size === 0) this.close();
  }

  /** Stop sweeping. */
  close(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  #sweep(): void {
    this.#cancelSweep = this.#timers.after(this.#sweepMs, () => this.#sweep(), "background");
    const nowMs = this.monotonicClock.nowMs();
    for (const connection of this.#watched) if (connection.isOverdue(nowMs)) this.#drop(connection);
  }

  #drop(connection: WatchedConnection): void {
    this.#dropped.add();
    this.forget(connection);
    connection.destroy();
  }

  #release(address: string | undefined): void {
    this.#open -= 1;
    if (address === undefined) return;
    const left = this.#perAddress.get(address)! - 1;
    if (left === 0) this.#perAddress.delete(address);
    else this.#perAddress.set(address, left);
  }
}
