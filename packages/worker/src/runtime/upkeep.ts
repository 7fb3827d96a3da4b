import { Cursor } from "@gossip/contracts";
import { RANGE_EXHAUSTED, type FailureInput } from "@gossip/coordination";
import type { AnyCoordError } from "@gossip/coordination-errors";
import { assert, type Result } from "@gossip/stdx";
import { mustRenew, upkeepDueMs } from "../policy/checkpoint-policy.ts";
import { storePauseMs } from "../policy/store-pause.ts";
import { sleep } from "../time/worker-time.ts";
import { isLeaseGone } from "./lease-gone.ts";
import { flushPatiently, type ResultFlush } from "./patient-flush.ts";
import type { Ending, UpkeepOptions } from "./upkeep-options.ts";
import type { LossCause } from "./worker-event.ts";

/** Everything up to `key` is finished: `items` items since the last checkpoint, `failures` of them skipped. */
interface Progress {
  readonly key: Uint8Array;
  readonly items: number;
  readonly failures: readonly FailureInput[] | undefined;
}

/**
 * Keeps a shard: stores its progress, renews its lease, and ends the hold.
 *
 * One write is in flight at a time, and the work continues meanwhile. No result may be written while results are
 * flushed, because the flush token covers exactly the results up to one key.
 */
export class Upkeep {
  readonly #options: UpkeepOptions;
  /** The last finished item. Its key is read when it is stored: a source may make it each time. */
  #last: { readonly key: Uint8Array } | undefined;
  #items = 0;
  /** Skipped since the last checkpoint. The write that moves past them records them. */
  #failed: FailureInput[] = [];
  #token: Uint8Array | undefined;
  #checkpointedMs: number;
  #renewedMs: number;
  /** How long the last write took, or the claim before the first one. */
  #writeMs: number;
  #dueMs: number;
  #failures = 0;
  #flush: Promise<boolean> | undefined;
  /** The write in progress, from the flush to the store's response. Never rejects. */
  #action: Promise<void> | undefined;
  #isEnding = false;
  #giveUpMs = Infinity;
  /** When to stop waiting for room for the results, because the process is stopping. */
  #hurriedMs = Infinity;
  #isOver = false;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#token = options.session.cursor.token;
    this.#checkpointedMs = this.#renewedMs = options.askedMs;
    this.#writeMs = options.time.nowMs() - options.askedMs;
    this.#dueMs = this.#reckonDue();
  }

  /** Whether progress must not move at the moment: results are being flushed, or no more failures fit into a write. */
  get isHeldBack(): boolean {
    return this.#flush !== undefined || this.#isLedgerFull;
  }

  get #isLedgerFull(): boolean {
    return this.#failed.length >= this.#options.maxFailures;
  }

  /** Everything up to this item is finished. Hot: called for every item. */
  advance(item: { readonly key: Uint8Array }): void {
    this.#last = item;
    if (this.#items++ === 0) this.#dueMs = this.#reckonDue();
  }

  /** Everything up to this key is finished, and the key itself is skipped. */
  skip(failure: FailureInput): void {
    this.#failed.push(failure);
    this.advance(failure);
    if (this.#isLedgerFull) void this.keepUp();
  }

  /** Whether a write is due. Hot: called after every item. */
  isDue(nowMs: number): boolean {
    if (this.#items >= this.#options.policy.items || this.#isLedgerFull) return true;
    return nowMs >= this.#dueMs && this.#action === undefined;
  }

  /**
   * Write what is due. Resolves as soon as results may be written again, not when the write is committed. If the
   * previous write is still in flight, waits for it first.
   */
  async keepUp(): Promise<void> {
    if (this.#flush !== undefined) return this.#untilFlushed();
    await this.#action;
    // Give a failing store time. The work waits too once it is a whole checkpoint ahead.
    const waitMs = this.#failures > 0 ? this.#dueMs - this.#options.time.nowMs() : 0;
    if (waitMs > 0) await sleep(this.#options.time, waitMs);
    if (this.#isOver || this.#action !== undefined || !this.isDue(this.#options.time.nowMs())) return;
    this.#action = this.#act();
    return this.#untilFlushed();
  }

  /** Store everything that is finished, and wait until it is stored or the hold is over. */
  async storeNow(): Promise<void> {
    while (this.#items > 0 && !this.#isOver && !this.#isEnding) {
      await this.#action;
      const waitMs = this.#failures > 0 ? this.#dueMs - this.#options.time.nowMs() : 0;
      if (waitMs > 0) await sleep(this.#options.time, waitMs);
      if (this.#isOver || this.#isEnding || this.#items === 0) return;
      if (this.#action === undefined) this.#action = this.#act();
    }
  }

  /** Start no further writes: the shard is lost, or nothing more of it may be stored. */
  abandon(): void {
    this.#isOver = true;
  }

  /**
   * Store the finished items and end the hold. Returns `false` if the shard was lost first or the store was unavailable
   * for too long. `hurryMs` is how long it may take if the process is stopping.
   */
  async end(ending: Ending, hurryMs?: number): Promise<boolean> {
    this.#isEnding = true;
    const { time, leaseMs } = this.#options;
    this.#giveUpMs = time.nowMs() + (hurryMs ?? leaseMs);
    if (hurryMs !== undefined) this.#hurriedMs = this.#giveUpMs;
    await this.#action;
    if (this.#isOver) return false;
    const { session } = this.#options;
    // Read before the flush: the token covers exactly the results written up to this key.
    const progress = this.#items > 0 ? this.#progress() : undefined;
    if (progress !== undefined && !(await this.#flushResults())) return false;
    const opId = this.#options.newOpId();
    switch (ending.kind) {
      case "Complete": {
        this.#options.listener.onCompleting();
        const point = progress === undefined ? RANGE_EXHAUSTED : this.#cursorAt(progress.key);
        return this.#insist("complete", () => session.complete(point, { opId, failures: progress?.failures }));
      }
      case "Park":
        if (progress !== undefined && !(await this.#lastCheckpoint(progress))) return false;
        return this.#insist("park", () => session.park(ending.reason, { opId, detail: ending.detail }));
      case "Release":
        if (progress !== undefined && !(await this.#lastCheckpoint(progress))) return false;
        return this.#insist("release", () => session.release({ opId }));
    }
  }

  async #lastCheckpoint(progress: Progress): Promise<boolean> {
    const { key, items, failures } = progress;
    const cursor = this.#cursorAt(key);
    const startMs = this.#options.time.nowMs();
    const opId = this.#options.newOpId();
    const isMade = await this.#insist("checkpoint", () =>
      this.#options.session.checkpoint(cursor, { renew: this.#mustRenew(this.#options.time.nowMs()), opId, failures }),
    );
    if (!isMade) return false;
    this.#stored(progress);
    this.#options.listener.onCheckpoint(items, this.#options.time.nowMs() - startMs);
    return true;
  }

  /** Retry until the store responds, the lease expires, or `patienceMs` is over. */
  async #insist<E extends AnyCoordError>(operation: string, ask: () => Promise<Result<unknown, E>>): Promise<boolean> {
    const { time } = this.#options;
    for (;;) {
      const askedMs = time.nowMs();
      const answer = await ask();
      if (answer.ok) {
        this.#options.listener.onStoreWorked(operation, time.nowMs() - askedMs);
        return true;
      }
      this.#refused(operation, answer.error);
      if (this.#isOver || time.nowMs() >= this.#giveUpMs) return false;
      await sleep(time, this.#pauseMs());
    }
  }

  async #act(): Promise<void> {
    try {
      // The write that ends the hold stores the rest. Until then only renew.
      if (this.#items === 0 || this.#isEnding) await this.#renew();
      else await this.#store(this.#progress());
    } catch (error) {
      this.#isOver = true;
      this.#options.listener.onBug(error);
    } finally {
      this.#action = undefined;
      this.#dueMs = this.#reckonDue();
    }
  }

  async #renew(): Promise<void> {
    const { session, time, listener } = this.#options;
    const askedMs = time.nowMs();
    const answer = await session.renew();
    this.#writeMs = time.nowMs() - askedMs;
    if (!answer.ok) return this.#refused("renew", answer.error);
    listener.onStoreWorked("renew", this.#writeMs);
    this.#renewed(askedMs);
    listener.onCapacity(answer.value.capacity);
  }

  #progress(): Progress {
    return {
      key: this.#last!.key,
      items: this.#items,
      failures: this.#failed.length === 0 ? undefined : [...this.#failed],
    };
  }

  #stored({ items, failures }: Progress): void {
    this.#items -= items;
    if (failures === undefined) return;
    const wasFull = this.#isLedgerFull;
    this.#failed.splice(0, failures.length);
    if (wasFull) this.#options.listener.onFlushed();
  }

  async #store(progress: Progress): Promise<void> {
    const { key, items, failures } = progress;
    if (!(await this.#flushResults())) return;
    const { session, time, listener } = this.#options;
    const askedMs = time.nowMs();
    const deadlineBefore = session.lease.deadline;
    const renew = this.#mustRenew(askedMs);
    const answer = await session.checkpoint(this.#cursorAt(key), { renew, failures });
    this.#writeMs = time.nowMs() - askedMs;
    if (!answer.ok) return this.#refused("checkpoint", answer.error);
    listener.onStoreWorked("checkpoint", this.#writeMs);
    this.#stored(progress);
    this.#failures = 0;
    this.#checkpointedMs = askedMs;
    listener.onCheckpoint(items, this.#writeMs);
    listener.onCapacity(answer.value.value.capacity);
    if (!renew) return;
    // A run that has ended still stores progress but renews nothing, so the deadline has not moved. A renewal returns
    // the reason.
    if (session.lease.deadline <= deadlineBefore && askedMs > this.#renewedMs) return this.#renew();
    this.#renewed(askedMs);
  }

  #mustRenew(nowMs: number): boolean {
    return mustRenew(this.#options.policy, { nowMs, renewedMs: this.#renewedMs, writeMs: this.#writeMs });
  }

  #renewed(askedMs: number): void {
    this.#failures = 0;
    this.#renewedMs = askedMs;
    this.#options.listener.onRenewed(askedMs);
  }

  #refused(operation: string, error: AnyCoordError): void {
    const { listener, time, leaseMs } = this.#options;
    if (error.kind === "RunTerminal") {
      listener.onRunEnded(error.status);
      return;
    }
    // A renewal queued after the last write finds the session closed. That is not a loss.
    if (error.kind === "SessionClosed" && this.#isEnding) return;
    if (isLeaseGone(error)) return this.#lose(error.kind);
    if (error.kind === "CursorTokenTooLarge") {
      this.#isOver = true;
      listener.onSinkFailed(error);
      return;
    }
    assert(
      error.kind === "BackendError" || error.kind === "ResourceExhausted",
      () => `the runtime's own ${operation} was refused as ${error.kind}`,
    );
    this.#failures++;
    listener.onStoreFailed(operation, error);
    if (time.nowMs() - this.#renewedMs >= leaseMs) this.#lose("Unconfirmed");
  }

  #lose(cause: LossCause): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.listener.onLost(cause);
  }

  /** Make the results durable. Returns `false` if the shard cannot continue. */
  async #flushResults(): Promise<boolean> {
    const { sink } = this.#options;
    // Keep a token that another sink wrote: a checkpoint without it would erase it.
    if (sink === undefined) return true;
    this.#flush = this.#waitForToken(sink);
    const isFlushed = await this.#flush;
    this.#flush = undefined;
    this.#options.listener.onFlushed();
    return isFlushed;
  }

  async #untilFlushed(): Promise<void> {
    await this.#flush;
  }

  async #waitForToken(sink: ResultFlush): Promise<boolean> {
    const { time, patienceMs, listener } = this.#options;
    const endRenewing = this.#renewMeanwhile();
    try {
      const giveUpMs = time.nowMs() + patienceMs;
      this.#token = await flushPatiently(sink, {
        time,
        isPatient: () => !this.#isOver && time.nowMs() < Math.min(giveUpMs, this.#hurriedMs),
        onFull: () => listener.onSinkFull(),
      });
      listener.onSinkWorked();
    } catch (cause) {
      this.#isOver = true;
      listener.onSinkFailed(cause);
    }
    await endRenewing();
    return !this.#isOver;
  }

  /**
   * Renew the lease while a slow flush delays the checkpoint that would renew it. Returns a function that stops this.
   */
  #renewMeanwhile(): () => Promise<void> {
    const { policy, time, listener } = this.#options;
    let isOver = false;
    let renewal: Promise<void> | undefined;
    let cancel = (): void => undefined;
    const wait = (): void => {
      if (isOver || this.#isOver) return;
      const lateMs = this.#renewedMs + 1.5 * policy.renewMs - time.nowMs();
      cancel = time.startTimer(Math.max(policy.renewMs / 4, lateMs), () => {
        renewal = this.#renew()
          .catch((error: unknown) => {
            this.#isOver = true;
            listener.onBug(error);
          })
          .then(wait);
      });
    };
    wait();
    return async () => {
      isOver = true;
      cancel();
      await renewal;
    };
  }

  #cursorAt(lastKey: Uint8Array): Cursor {
    return Cursor.fromParts({ lastKey, token: this.#token });
  }

  #pauseMs(): number {
    const { policy, time } = this.#options;
    return storePauseMs({ failures: this.#failures, renewMs: policy.renewMs, random: time.random() });
  }

  #reckonDue(): number {
    const { policy, time } = this.#options;
    if (this.#failures > 0) return time.nowMs() + this.#pauseMs();
    return upkeepDueMs(policy, {
      items: this.#items,
      checkpointedMs: this.#checkpointedMs,
      renewedMs: this.#renewedMs,
    });
  }
}
