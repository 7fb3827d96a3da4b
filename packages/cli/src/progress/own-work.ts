import type { ShardId } from "@gossip/contracts";
import type { WorkerEvent, WorkerProgress } from "@gossip/worker";

/** Something that the run depends on: a store or a source that does not respond, or a full disk of its results. */
export interface Outage {
  readonly what: "store" | "source" | "results";
  /** When it began, in milliseconds of the clock that `OwnWork` was given. */
  readonly sinceMs: number;
}

/** What is wrong, and since when, as a part of a sentence. */
export function outageText(what: Outage["what"], since: string): string {
  return what === "results"
    ? `the disk of the results has been full since ${since}`
    : `the ${what} has not responded since ${since}`;
}

/** The outage to show: what the work waits for, or a store that cannot be looked at since then. */
export function shownOutage(own: Outage | undefined, lookFailedMs: number | undefined): Outage | undefined {
  if (lookFailedMs === undefined) return own;
  return { what: "store", sinceMs: own?.what === "store" ? Math.min(own.sinceMs, lookFailedMs) : lookFailedMs };
}

/** Rejections that are kept until they are taken. */
const MAX_REJECTIONS = 100;

/** Follows the work of this process by its events: what is not stored yet, and what it is waiting for. */
export class OwnWork {
  readonly #nowMs: () => number;
  readonly #storedOf = new Map<ShardId, number>();
  /** Since when it has been unavailable. */
  #storeOutMs: number | undefined;
  #sourceOutMs: number | undefined;
  #resultsOutMs: number | undefined;
  /** Items that are stored, or were lost with their shard. */
  #settled = 0;
  #lost = 0;
  #progress: WorkerProgress | undefined;
  #rejections: ShardId[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The last report. `undefined` before the first. */
  get progress(): WorkerProgress | undefined {
    return this.#progress;
  }

  /** Items that are done, without those that were lost with their shard: another holder, or this one, does them again. */
  get done(): number {
    return Math.max(0, (this.#progress?.items ?? 0) - this.#lost);
  }

  /** Items that are done and not stored yet. */
  get unstored(): number {
    return Math.max(0, (this.#progress?.items ?? 0) - this.#settled);
  }

  get outage(): Outage | undefined {
    if (this.#storeOutMs !== undefined) return { what: "store", sinceMs: this.#storeOutMs };
    if (this.#sourceOutMs !== undefined) return { what: "source", sinceMs: this.#sourceOutMs };
    return this.#resultsOutMs === undefined ? undefined : { what: "results", sinceMs: this.#resultsOutMs };
  }

  /** The shards whose lease was gone when this process wrote, since the last call. */
  takeRejections(): readonly ShardId[] {
    const rejections = this.#rejections;
    this.#rejections = [];
    return rejections;
  }

  readonly onProgress = (progress: WorkerProgress): void => {
    this.#progress = progress;
  };

  readonly onEvent = (event: WorkerEvent): void => {
    const { kind } = event;
    if (kind === "StoreUnavailable") this.#storeOutMs = this.#nowMs();
    if (kind === "StoreBack") this.#storeOutMs = undefined;
    if (kind === "SourceUnavailable") this.#sourceOutMs = this.#nowMs();
    if (kind === "SourceBack") this.#sourceOutMs = undefined;
    if (kind === "SinkUnavailable") this.#resultsOutMs = this.#nowMs();
    if (kind === "SinkBack") this.#resultsOutMs = undefined;
    const isRejected = kind === "LeaseLost" && (event.cause === "StaleFence" || event.cause === "LeaseExpired");
    if (isRejected && this.#rejections.length < MAX_REJECTIONS) this.#rejections.push(event.shard);
    if (kind === "ShardClaimed") this.#storedOf.set(event.shard, 0);
    if (kind === "ShardCheckpointed") {
      this.#settled += event.items;
      this.#storedOf.set(event.shard, (this.#storedOf.get(event.shard) ?? 0) + event.items);
    }
    if (kind === "LeaseLost") this.#lost += event.items - (this.#storedOf.get(event.shard) ?? 0);
    if (kind === "ShardCompleted" || kind === "ShardParked" || kind === "ShardReleased" || kind === "LeaseLost")
      this.#leave(event.shard, event.items);
  };

  #leave(shard: ShardId, items: number): void {
    this.#settled += items - (this.#storedOf.get(shard) ?? 0);
    this.#storedOf.delete(shard);
  }
}
