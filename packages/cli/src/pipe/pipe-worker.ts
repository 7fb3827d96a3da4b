import type { OutputPipes } from "../exec/named-pipes.ts";
import type { PipeJob } from "./pipe-job.ts";
import { PipeProcess, type PipeCommand } from "./pipe-process.ts";
import { Pace } from "./pace.ts";
import { SentJobs } from "./sent-jobs.ts";
import { readWorkerLine, type Hello, type WorkerLine } from "./worker-line.ts";

export type PipeAnswer = Extract<WorkerLine, { readonly kind: "Result" | "Error" | "NoResult" }>;

export interface WorkerListener {
  /** Hot: called for every item. */
  onAnswer(job: PipeJob, answer: PipeAnswer): void;
  /** It takes more than before: it answered items, or asked for more at a time. */
  onRoom(): void;
  /** The process is gone. */
  onGone(ended: EndedWorker): void;
  /** A line that is no answer. Returns a promise if the reader of the log is behind. */
  onLog(text: string): Promise<void> | undefined;
}

/** What a process left. */
export interface EndedWorker {
  readonly unanswered: readonly PipeJob[];
  readonly why: string;
  /** The item that took too long, if that is why it was killed. */
  readonly late: PipeJob | undefined;
}

export interface PipeWorkerOptions extends PipeCommand {
  /** For its output. They end with the process. */
  readonly pipes: OutputPipes;
  readonly timeoutMs: number | undefined;
  readonly nowMs: () => number;
}

/** The most text to send in advance, in UTF-16 code units. One item may be longer. */
const MAX_AHEAD_SIZE = 2 ** 22;

/** In one chunk of output. */
const MANY_LOG_LINES = 100;

const NO_HELLO: Hello = { kind: "Hello", batch: 1, concurrency: undefined };

/** A process with the items that it has not answered. */
export class PipeWorker {
  readonly #process: PipeProcess;
  readonly #options: PipeWorkerOptions;
  readonly #listener: WorkerListener;
  readonly #pace = new Pace();
  readonly #sent = new SentJobs();
  #sentSize = 0;
  /** Lines that are written together. */
  #unwritten = "";
  #hello: Hello = NO_HELLO;
  #hasSpoken = false;
  /** It has a suspect, and gets nothing else until that is answered. */
  #isReserved = false;
  /** When the oldest item became the oldest. */
  #oldestSinceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #late: PipeJob | undefined;

  constructor(options: PipeWorkerOptions, listener: WorkerListener) {
    this.#options = options;
    this.#listener = listener;
    this.#process = new PipeProcess(options, options.pipes, {
      onLines: (lines) => this.#onLines(lines),
      onErrorLines: (lines) => this.#logAll(lines),
      onGone: (why) => this.#onGone(why),
    });
  }

  get isUsable(): boolean {
    return this.#process.isUsable;
  }

  /** How many items it has. */
  get load(): number {
    return this.#sent.size;
  }

  /** How many items it can use at a time. */
  get appetite(): number {
    const { batch, concurrency } = this.#hello;
    return concurrency === undefined && batch === 1 ? this.#pace.depth : batch * this.#batchesAtATime;
  }

  /** A process that is quick gets the next batch before it has answered the last one, so that it need not wait for it. */
  get #batchesAtATime(): number {
    const { batch, concurrency } = this.#hello;
    return concurrency ?? (this.#pace.isQuick(batch) ? 2 : 1);
  }

  /** How many items it takes now, if so many are waiting. */
  room(waiting: number): number {
    if (!this.isUsable || this.#isReserved) return 0;
    const { batch } = this.#hello;
    if (this.load === 0) return batch === 1 ? this.appetite : Math.min(waiting, batch);
    if (this.#sentSize >= MAX_AHEAD_SIZE) return 0;
    // Few large writes: a write costs more than an item.
    if (batch === 1) return this.load > this.appetite / 2 ? 0 : this.appetite - this.load;
    // Not a part of a batch: the rest would wait for the next one.
    return waiting >= batch && this.load <= batch * (this.#batchesAtATime - 1) ? batch : 0;
  }

  /** Give it an item. It is written by `flush`. */
  send(job: PipeJob): void {
    if (this.#sent.size === 0) this.#begin();
    this.#isReserved = job.isSuspect;
    const id = this.#sent.add(job);
    this.#sentSize += job.fields.length;
    this.#unwritten += `{"id":${id},${job.fields}}\n`;
  }

  flush(): void {
    if (this.#unwritten === "") return;
    this.#process.write(this.#hello.batch === 1 ? this.#unwritten : `${this.#unwritten}\n`);
    this.#unwritten = "";
  }

  /** End its input, or kill it if it is busy. Resolves when it has ended. */
  end(): Promise<void> {
    if (this.load > 0) this.#process.kill("it was stopped");
    return this.#process.end();
  }

  killAtOnce(): void {
    this.#process.killAtOnce();
  }

  #begin(): void {
    const { nowMs, timeoutMs } = this.#options;
    this.#oldestSinceMs = nowMs();
    this.#pace.begin(this.#oldestSinceMs);
    if (timeoutMs !== undefined) this.#timer ??= setTimeout(() => this.#checkTime(timeoutMs), timeoutMs);
  }

  #onLines(lines: readonly string[]): void {
    const { oldest } = this.#sent;
    let answers = 0;
    let isRead: Promise<void> | undefined;
    for (const text of lines) {
      const line = readWorkerLine(text, !this.#hasSpoken);
      this.#hasSpoken = true;
      if (line.kind === "Log") isRead = this.#log(line.text) ?? isRead;
      else if (line.kind === "Hello") this.#greet(line);
      else if (this.#takeAnswer(line)) answers++;
    }
    // Others get their turn between two chunks of a long log.
    if (isRead === undefined && lines.length - answers > MANY_LOG_LINES) isRead = nextTurn();
    if (isRead !== undefined) void this.#process.pause(isRead);
    if (answers === 0) return;
    const nowMs = this.#options.nowMs();
    this.#pace.answered(answers, nowMs);
    if (this.#sent.size === 0) this.#isReserved = false;
    if (this.#sent.oldest !== oldest) this.#oldestSinceMs = nowMs;
    this.#listener.onRoom();
  }

  #takeAnswer(answer: PipeAnswer): boolean {
    const job = this.#sent.take(answer.id);
    if (job === undefined) {
      this.#process.kill("it answered an item that it does not have");
      return false;
    }
    this.#sentSize -= job.fields.length;
    this.#listener.onAnswer(job, answer);
    return true;
  }

  /** It asks for batches. What it got before is its first batch. */
  #greet(hello: Hello): void {
    this.#hello = hello;
    if (hello.batch > 1 && this.#sent.size > 0 && this.isUsable) this.#process.write("\n");
    this.#listener.onRoom();
  }

  #logAll(lines: readonly string[]): Promise<void> | undefined {
    let isRead: Promise<void> | undefined;
    for (const line of lines) isRead = this.#log(line) ?? isRead;
    return isRead ?? (lines.length > MANY_LOG_LINES ? nextTurn() : undefined);
  }

  #log(text: string): Promise<void> | undefined {
    return text.trim() === "" ? undefined : this.#listener.onLog(text);
  }

  /**
   * Only the oldest item is timed, from when it became the oldest: a process that takes one item after another works on
   * that one.
   */
  #checkTime(timeoutMs: number): void {
    this.#timer = undefined;
    const { oldest } = this.#sent;
    if (oldest === undefined || !this.isUsable) return;
    const leftMs = this.#oldestSinceMs + timeoutMs - this.#options.nowMs();
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#checkTime(timeoutMs), Math.ceil(leftMs));
      return;
    }
    // In a batch any item may be the one.
    if (this.#hello.batch === 1 || this.#sent.size === 1) this.#late = oldest;
    this.#process.kill("it took too long");
  }

  #onGone(why: string): void {
    clearTimeout(this.#timer);
    this.#listener.onGone({ unanswered: this.#sent.all(), why, late: this.#late });
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
