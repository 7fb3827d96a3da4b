// BullMQ, on Redis and on PostgreSQL.
import { createPostgresBackend, Queue, Worker, type ConnectionOptions, type Job } from "bullmq";
import { assert } from "@gossip/stdx";
import { JOBS, WORKERS } from "./sizes.ts";

const NO_RETRY_LIMIT = { maxRetriesPerRequest: null };

/** Jobs of a queue that ten workers of one process take one by one, as they do there. */
export class BullJobs {
  readonly #connection: ConnectionOptions;
  #queue: Queue | undefined;
  #count = 0;

  constructor(port: number) {
    this.#connection = { host: "127.0.0.1", port, ...NO_RETRY_LIMIT };
  }

  async prepare(): Promise<void> {
    await this.close();
    this.#queue = new Queue(`jobs-${++this.#count}`, { connection: this.#connection });
    await this.#queue.addBulk(Array.from({ length: JOBS }, (_, index) => ({ name: "job", data: { index } })));
  }

  async drain(): Promise<void> {
    const worker = new Worker(this.#queue!.name, async () => undefined, {
      connection: this.#connection,
      concurrency: WORKERS,
      autorun: false,
    });
    await worker.waitUntilReady();
    let done = 0;
    const all = new Promise<void>((resolve) => {
      worker.on("completed", () => {
        if (++done === JOBS) resolve();
      });
    });
    void worker.run();
    await all;
    await worker.close();
  }

  async close(): Promise<void> {
    await this.#queue?.obliterate({ force: true });
    await this.#queue?.close();
  }
}

/** Jobs whose progress is written by many callers at once. Nothing checks that they hold the job. */
export class BullProgress {
  readonly #close: () => Promise<void>;
  readonly #jobs: readonly Job[];
  #step = 0;

  private constructor(jobs: readonly Job[], close: () => Promise<void>) {
    this.#jobs = jobs;
    this.#close = close;
  }

  static async onRedis(port: number, count: number): Promise<BullProgress> {
    const queue = new Queue("progress", { connection: { host: "127.0.0.1", port, ...NO_RETRY_LIMIT } });
    return new BullProgress(await addJobs(queue, count), () => queue.close());
  }

  static async onPostgres(url: string, count: number): Promise<BullProgress> {
    const queue = new Queue(
      "progress",
      { connection: { connectionString: url, max: 10, migrate: true } },
      createPostgresBackend,
    );
    await queue.waitUntilReady();
    return new BullProgress(await addJobs(queue as unknown as Queue, count), () => queue.close());
  }

  async write(steps: number): Promise<void> {
    const first = this.#step + 1;
    this.#step += steps;
    const go = async (job: Job): Promise<void> => {
      for (let at = first; at < first + steps; at++) await job.updateProgress({ at });
    };
    await Promise.all(this.#jobs.map(go));
  }

  close(): Promise<void> {
    return this.#close();
  }
}

/** How long a lock lasts: as long as a lease on our side. */
const LOCK_MS = 60_000;

/**
 * Jobs that one worker holds, each under a lock with a token of its own.
 *
 * Extending a lock is the only call of a job in progress that checks its token, so it is what keeps a worker that lost its
 * job from going on. It does not fence the progress: that is a call of its own, which any caller can make. Both are sent
 * without waiting for each other, which is the best case.
 */
export class BullHeld {
  readonly #queue: Queue;
  readonly #worker: Worker;
  readonly #jobs: readonly Job[];
  readonly #ids: string[];
  readonly #tokens: string[];
  #step = 0;

  static async onRedis(port: number, count: number): Promise<BullHeld> {
    const connection = { host: "127.0.0.1", port, ...NO_RETRY_LIMIT };
    const queue = new Queue("held", { connection });
    await addJobs(queue, count);
    const worker = new Worker(queue.name, undefined, { connection, lockDuration: LOCK_MS, autorun: false });
    const tokens = Array.from({ length: count }, (_, index) => `token-${index}`);
    const jobs: Job[] = [];
    for (const token of tokens) jobs.push(await worker.getNextJob(token, { block: false }));
    return new BullHeld({ queue, worker, jobs, tokens });
  }

  private constructor(held: {
    readonly queue: Queue;
    readonly worker: Worker;
    readonly jobs: readonly Job[];
    readonly tokens: string[];
  }) {
    this.#queue = held.queue;
    this.#worker = held.worker;
    this.#jobs = held.jobs;
    this.#tokens = held.tokens;
    this.#ids = held.jobs.map(({ id }) => id!);
  }

  /** Every job extends its lock and writes its progress, at its own pace. */
  async extendEach(steps: number): Promise<void> {
    const first = this.#begin(steps);
    const go = async (job: Job, index: number): Promise<void> => {
      for (let at = first; at < first + steps; at++) {
        const [extended] = await Promise.all([
          job.extendLock(this.#tokens[index]!, LOCK_MS),
          job.updateProgress({ at }),
        ]);
        assert(extended === 1, "the worker holds the job");
      }
    };
    await Promise.all(this.#jobs.map(go));
  }

  /** As `extendEach`, with one call that extends all locks, as a worker's timer does. No job goes on before the others. */
  async extendTogether(steps: number): Promise<void> {
    const first = this.#begin(steps);
    for (let at = first; at < first + steps; at++) {
      const [lost] = await Promise.all([
        this.#worker.extendJobLocks(this.#ids, this.#tokens, LOCK_MS),
        ...this.#jobs.map((job) => job.updateProgress({ at })),
      ]);
      assert(lost.length === 0, "the worker holds all jobs");
    }
  }

  async close(): Promise<void> {
    await this.#worker.close();
    await this.#queue.close();
  }

  #begin(steps: number): number {
    const first = this.#step + 1;
    this.#step += steps;
    return first;
  }
}

function addJobs(queue: Queue, count: number): Promise<Job[]> {
  return queue.addBulk(Array.from({ length: count }, (_, index) => ({ name: "job", data: { index } })));
}
