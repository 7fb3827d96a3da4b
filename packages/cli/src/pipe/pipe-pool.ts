import { spawnSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import { err, ok, type Result } from "@gossip/stdx";
import type { ModuleResult } from "../run/results/item-result.ts";
import { complaintOf, type InvalidCommand } from "../exec/shell-pool.ts";
import { LogLimit } from "./log-limit.ts";
import { PipeFailed } from "./pipe-failed.ts";
import { PipeJob, type PipeRequest } from "./pipe-job.ts";
import { PipeWorker, type EndedWorker, type PipeAnswer } from "./pipe-worker.ts";
import type { PipeCommand } from "./pipe-process.ts";
import { SparePipes } from "./spare-pipes.ts";

export interface PipePoolOptions extends PipeCommand {
  /** How many processes. */
  readonly size: number;
  /** Kill a process that takes longer for an item. No limit if omitted. */
  readonly timeoutMs?: number | undefined;
  /** The error for an item that took too long. */
  readonly timedOut: () => Error;
  /** The command cannot work: it ended before it answered anything, again and again. */
  readonly onBroken: (why: string) => void;
}

type OnLog = (text: string) => Promise<void> | undefined;

/** So many different items must end their processes before the command is to blame. */
const BROKEN_AFTER = 3;

/**
 * Long-lived processes that share a queue of items.
 *
 * If a process ends while it has one item, that item failed. If it had several, any of them may be to blame: all of them
 * are sent again, each to a process that has nothing else, before anything new is sent. So an item that ends its process
 * fails alone, and the items around it lose no attempt.
 */
export class PipePool {
  readonly #options: PipePoolOptions;
  readonly #workers = new Set<PipeWorker>();
  readonly #pipes: SparePipes;
  #queue: PipeJob[] = [];
  #suspects: PipeJob[] = [];
  /** Items that ended a process, or were in one that ended. */
  readonly #suspected = new WeakSet<object>();
  /** The jobs of a shard's hold end with its signal. */
  readonly #followed = new WeakSet<AbortSignal>();
  /** Items that ended their processes, before the first answer of any process. */
  readonly #blamed = new Set<object>();
  #hasAnswered = false;
  #appetite = 1;
  #isScheduled = false;
  #isClosed = false;
  #isStopping = false;
  readonly #logLimit = new LogLimit(() => performance.now());
  onLog: OnLog = () => undefined;

  private constructor(options: PipePoolOptions) {
    this.#options = options;
    this.#pipes = new SparePipes(options.size);
  }

  static open(options: PipePoolOptions): Result<PipePool, InvalidCommand> {
    const { command, env } = options;
    const checked = spawnSync("/bin/sh", ["-n", "-c", command], { encoding: "utf8", env });
    if (checked.status !== 0) return err({ kind: "InvalidCommand", complaint: complaintOf(checked.stderr ?? "") });
    return ok(new PipePool(options));
  }

  /** How many items each of `size` callers should have in the pool, so that no process waits. */
  get appetite(): number {
    return this.#appetite;
  }

  /** The result of the item. Rejects if the item failed, or if its signal fires. */
  run(request: PipeRequest): Promise<ModuleResult> {
    const { item, signal } = request;
    if (signal.aborted || this.#isStopping) return Promise.reject(stopped());
    const job = new PipeJob(request);
    this.#follow(signal);
    job.isSuspect = this.#suspected.has(item);
    (job.isSuspect ? this.#suspects : this.#queue).push(job);
    this.#schedule();
    return job.result;
  }

  /** Start nothing more. What a process has may finish. */
  stopStarting(): void {
    this.#isStopping = true;
    for (const job of [...this.#queue.splice(0), ...this.#suspects.splice(0)]) job.reject(stopped());
  }

  /** End the processes. Each has a moment to finish. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.stopStarting();
    this.#pipes.close();
    await Promise.all([...this.#workers].map((worker) => worker.end()));
    this.#logLeftOut(this.#logLimit.leftOut);
  }

  /** Kill everything now, for a process that is about to exit. */
  killAtOnce(): void {
    for (const worker of this.#workers) worker.killAtOnce();
  }

  #log(text: string): Promise<void> | undefined {
    const { isWanted, leftOut } = this.#logLimit.next();
    this.#logLeftOut(leftOut);
    return isWanted ? this.onLog(text) : undefined;
  }

  #logLeftOut(count: number): void {
    if (count > 0) void this.onLog(`${count} more lines of the processes were left out`);
  }

  /** One listener for all jobs of a signal: there may be thousands. */
  #follow(signal: AbortSignal): void {
    if (this.#followed.has(signal)) return;
    this.#followed.add(signal);
    const isOther = (job: PipeJob): boolean => {
      if (job.signal !== signal) return true;
      job.reject(stopped());
      return false;
    };
    signal.addEventListener(
      "abort",
      () => {
        this.#queue = this.#queue.filter(isOther);
        this.#suspects = this.#suspects.filter(isOther);
      },
      { once: true },
    );
  }

  /** Once a turn of the event loop, so that items that come together are written together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isClosed) this.#dispatch();
    });
  }

  #dispatch(): void {
    this.#dispatchSuspects();
    // Processes that still have something else are needed for the suspects.
    if (this.#suspects.length === 0) this.#dispatchQueue();
    for (const worker of this.#workers) worker.flush();
  }

  #dispatchSuspects(): void {
    while (this.#suspects.length > 0) {
      const idle = this.#find((worker) => worker.isUsable && worker.load === 0) ?? this.#start();
      if (idle === undefined) return;
      idle.send(this.#suspects.shift()!);
    }
  }

  #dispatchQueue(): void {
    let at = 0;
    while (at < this.#queue.length) {
      const waiting = this.#queue.length - at;
      const worker = this.#roomiest(waiting);
      if (worker === undefined) break;
      // A share for each process, or a whole batch.
      const share = worker.room(waiting);
      for (const end = Math.min(this.#queue.length, at + share); at < end; at++) worker.send(this.#queue[at]!);
    }
    this.#queue.splice(0, at);
  }

  /** An idle process, a new one, or the one with the least to do that takes more. */
  #roomiest(waiting: number): PipeWorker | undefined {
    let best: PipeWorker | undefined;
    for (const worker of this.#workers) {
      if (worker.room(waiting) === 0) continue;
      if (best === undefined || worker.load < best.load) best = worker;
    }
    return best?.load === 0 ? best : (this.#start() ?? best);
  }

  #find(test: (worker: PipeWorker) => boolean): PipeWorker | undefined {
    for (const worker of this.#workers) if (test(worker)) return worker;
    return undefined;
  }

  #start(): PipeWorker | undefined {
    const { size, command, cwd, env, timeoutMs } = this.#options;
    if (this.#workers.size >= size) return undefined;
    const nowMs = (): number => performance.now();
    const worker = new PipeWorker(
      { command, cwd, env, pipes: this.#pipes.take(), timeoutMs, nowMs },
      {
        onAnswer: (job, answer) => this.#onAnswer(job, answer),
        onRoom: () => this.#onRoom(),
        onGone: (ended) => this.#onGone(worker, ended),
        onLog: (text) => this.#log(text),
      },
    );
    this.#workers.add(worker);
    return worker;
  }

  #onAnswer(job: PipeJob, answer: PipeAnswer): void {
    this.#hasAnswered = true;
    if (answer.kind === "Result") job.resolve({ kind: "Module", value: answer.value, failure: undefined });
    else if (answer.kind === "Error") job.reject(new PipeFailed(answer.error.message, answer.error));
    else job.reject(new PipeFailed("its process answered without a result or an error"));
  }

  #onRoom(): void {
    this.#updateAppetite();
    this.#schedule();
  }

  #updateAppetite(): void {
    const { size } = this.#options;
    let sum = size - this.#workers.size;
    for (const worker of this.#workers) sum += worker.appetite;
    this.#appetite = Math.max(1, Math.ceil(sum / size));
  }

  #onGone(worker: PipeWorker, { unanswered, why, late }: EndedWorker): void {
    this.#workers.delete(worker);
    const wanted = unanswered.filter((job) => job.signal.aborted === false && !this.#isStopping);
    for (const job of unanswered) if (!wanted.includes(job)) job.reject(stopped());
    if (!this.#isClosed) void this.onLog(`a process of --pipe ended: ${why}`);
    if (late !== undefined) {
      this.#suspected.add(late.item);
      late.reject(this.#options.timedOut());
      // These were waiting behind it.
      this.#queue.unshift(...wanted.filter((job) => job !== late));
    } else if (unanswered.length > 1) this.#suspect(wanted);
    else if (wanted.length === 1) this.#blame(wanted[0]!, why);
    this.#schedule();
  }

  /** One of these ended its process. Send each alone, before others. */
  #suspect(jobs: readonly PipeJob[]): void {
    for (const job of jobs) {
      job.isSuspect = true;
      this.#suspected.add(job.item);
    }
    this.#suspects.unshift(...jobs);
  }

  #blame(job: PipeJob, why: string): void {
    this.#suspected.add(job.item);
    job.reject(new PipeFailed(`its process ended (${why})`));
    if (this.#hasAnswered) return;
    this.#blamed.add(job.item);
    if (this.#blamed.size === BROKEN_AFTER) this.#options.onBroken(why);
  }
}

/** The item is aborted, so this is ignored. */
function stopped(): Error {
  return new Error("the item was stopped");
}
