import type { LogicalTime } from "@gossip/contracts";
import type { CoordinationEvent, EventKind, RunRequest } from "@gossip/coordination";

/** Events after which a waiting claim may succeed, or must end. */
const WAKING: ReadonlySet<EventKind> = /* @__PURE__ */ new Set<EventKind>([
  "ShardReleased",
  "ShardResidualCreated",
  "ShardSplit",
  "ShardUnparked",
  "RunActivated",
]);
const ENDING: ReadonlySet<EventKind> = /* @__PURE__ */ new Set<EventKind>([
  "RunCompleted",
  "RunFailed",
  "RunCancelled",
  "RunDeleted",
]);
/** After these a run may have nothing left to claim, which waiting claims should learn. */
const SETTLING: ReadonlySet<EventKind> = /* @__PURE__ */ new Set<EventKind>(["ShardCompleted", "ShardParked"]);

export interface WaiterTimers {
  /** Call `then` after `ms` unless the returned function is called first. */
  after(ms: number, then: () => void): () => void;
}

interface Waiter {
  wake(): void;
}

/** The claims that wait for one run. */
interface RunQueue {
  readonly address: RunRequest;
  readonly waiting: Set<Waiter>;
  /** Claims that look for a shard now and may wait afterwards. */
  claiming: number;
  /** Whether there was a reason to wake a waiter while none waited. One of those that are claiming then tries again. */
  hasMissed: boolean;
  cancelTimer: (() => void) | undefined;
  timerAtMs: number;
  cancelPoll: (() => void) | undefined;
}

export interface ClaimWaitersOptions {
  readonly timers: WaiterTimers;
  /** The time that timers go by, in milliseconds. */
  readonly nowMs: () => number;
  /** How often to look at a store that other nodes write to as well. Never by default. */
  readonly pollMs?: number | undefined;
}

/**
 * Claims that found nothing and wait.
 *
 * They do not ask the store again and again. A waiter is woken by an event of this node, or when the first lease of its
 * run runs out, or by one poll per run where other nodes write to the store too. Only one waiter is woken at a time; if
 * its claim succeeds it wakes the next, because there may be more. If it learns that there is nothing to wait for, it wakes
 * the next as well, which then learns the same.
 */
export class ClaimWaiters {
  readonly #runs = new Map<string, RunQueue>();
  readonly #options: ClaimWaitersOptions;
  #count = 0;

  constructor(options: ClaimWaitersOptions) {
    this.#options = options;
  }

  /** How many claims wait. */
  get count(): number {
    return this.#count;
  }

  /**
   * Note that a claim begins which may wait: what happens from now on is not missed. Call the result when it is over.
   */
  enter(address: RunRequest): () => void {
    const key = keyOf(address);
    const queue = this.#queueOf(key, address);
    queue.claiming++;
    return () => {
      queue.claiming--;
      this.#tidy(key, queue);
    };
  }

  /** Wait until it is worth trying again, or until `ms` have passed. Returns whether to try again. */
  wait(
    address: RunRequest,
    { ms, freeInMs, gone }: { readonly ms: number; readonly freeInMs: number | undefined; readonly gone: AbortSignal },
  ): Promise<boolean> {
    if (ms <= 0 || gone.aborted) return Promise.resolve(false);
    const key = keyOf(address);
    const queue = this.#queueOf(key, address);
    if (queue.hasMissed) {
      queue.hasMissed = false;
      return Promise.resolve(true);
    }
    this.#count++;
    return new Promise((resolve) => {
      const finish = (again: boolean): void => {
        if (!queue.waiting.delete(waiter)) return;
        this.#count--;
        cancel();
        gone.removeEventListener("abort", leave);
        this.#tidy(key, queue);
        resolve(again);
      };
      const leave = (): void => finish(false);
      const waiter: Waiter = { wake: () => finish(true) };
      queue.waiting.add(waiter);
      const cancel = this.#options.timers.after(ms, leave);
      gone.addEventListener("abort", leave, { once: true });
      if (freeInMs !== undefined) this.#wakeAfter(queue, freeInMs);
      this.#poll(queue);
    });
  }

  /** Wake one waiter of a run: another shard may be free. */
  wakeOne(address: RunRequest): void {
    const queue = this.#runs.get(keyOf(address));
    if (queue !== undefined) wakeFirst(queue);
  }

  /** Note what happened to a run. */
  observe({ kind, tenant, run }: CoordinationEvent): void {
    if (this.#runs.size === 0) return;
    if (ENDING.has(kind)) return this.#wakeAll(keyOf({ tenant, run }));
    if (WAKING.has(kind) || SETTLING.has(kind)) this.wakeOne({ tenant, run });
  }

  /** Wake every waiter: the server is about to stop. */
  wakeEverything(): void {
    for (const key of this.#runs.keys()) this.#wakeAll(key);
  }

  /** Wake the waiters of the runs that `test` returns true for. */
  wakeWhere(test: (address: RunRequest) => boolean): void {
    for (const [key, { address }] of this.#runs) if (test(address)) this.#wakeAll(key);
  }

  #wakeAll(key: string): void {
    const queue = this.#runs.get(key);
    if (queue === undefined) return;
    queue.hasMissed = queue.claiming > 0;
    for (const waiter of queue.waiting) waiter.wake();
  }

  #queueOf(key: string, { tenant, run }: RunRequest): RunQueue {
    let queue = this.#runs.get(key);
    if (queue === undefined) {
      queue = {
        address: { tenant, run },
        waiting: new Set(),
        claiming: 0,
        hasMissed: false,
        cancelTimer: undefined,
        timerAtMs: Infinity,
        cancelPoll: undefined,
      };
      this.#runs.set(key, queue);
    }
    return queue;
  }

  /** One timer per run, at the earliest time that any of its waiters needs. */
  #wakeAfter(queue: RunQueue, ms: number): void {
    const atMs = this.#options.nowMs() + ms;
    if (atMs >= queue.timerAtMs) return;
    queue.cancelTimer?.();
    queue.timerAtMs = atMs;
    queue.cancelTimer = this.#options.timers.after(Math.max(1, ms), () => {
      queue.timerAtMs = Infinity;
      queue.cancelTimer = undefined;
      wakeFirst(queue);
    });
  }

  #poll(queue: RunQueue): void {
    const { pollMs, timers } = this.#options;
    if (pollMs === undefined || queue.cancelPoll !== undefined) return;
    queue.cancelPoll = timers.after(pollMs, () => {
      queue.cancelPoll = undefined;
      wakeFirst(queue);
      if (queue.waiting.size > 0) this.#poll(queue);
    });
  }

  #tidy(key: string, queue: RunQueue): void {
    if (queue.waiting.size > 0 || queue.claiming > 0) return;
    queue.cancelTimer?.();
    queue.cancelPoll?.();
    queue.cancelTimer = queue.cancelPoll = undefined;
    queue.timerAtMs = Infinity;
    if (this.#runs.get(key) === queue) this.#runs.delete(key);
  }
}

function wakeFirst(queue: RunQueue): void {
  for (const waiter of queue.waiting) return waiter.wake();
  queue.hasMissed = true;
}

function keyOf({ tenant, run }: RunRequest): string {
  return `${tenant}${run}`;
}

/** How long until a time of the coordinator's clock, as a timer takes it. */
export function msUntil(time: LogicalTime | undefined, now: LogicalTime): number | undefined {
  if (time === undefined) return undefined;
  const wait = time - now;
  return wait <= 0n ? 0 : Number(wait < 0x7fff_ffffn ? wait : 0x7fff_ffffn);
}
