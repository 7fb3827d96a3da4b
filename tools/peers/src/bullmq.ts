// BullMQ, on Redis and on PostgreSQL.
import { createPostgresBackend, Queue, Worker, type ConnectionOptions, type Job } from "bullmq";
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

function addJobs(queue: Queue, count: number): Promise<Job[]> {
  return queue.addBulk(Array.from({ length: count }, (_, index) => ({ name: "job", data: { index } })));
}
