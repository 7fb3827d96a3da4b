// pg-boss, taking and completing jobs in bursts, which is the quickest that it does.
import { assert } from "@gossip/stdx";
import PgBoss from "pg-boss";
import { BURST, JOBS, WORKERS } from "./sizes.ts";

export class BossJobs {
  readonly #boss: PgBoss;
  #count = 0;

  private constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  static async start(url: string): Promise<BossJobs> {
    const boss = new PgBoss({ connectionString: url, max: WORKERS, supervise: false, schedule: false });
    await boss.start();
    return new BossJobs(boss);
  }

  async prepare(): Promise<void> {
    // A queue is a table of its own there: earlier ones do not slow it down.
    this.#count++;
    await this.#boss.createQueue(this.#queue);
    await this.#boss.insert(Array.from({ length: JOBS }, (_, index) => ({ name: this.#queue, data: { index } })));
  }

  async drain(): Promise<void> {
    let done = 0;
    const work = async (): Promise<void> => {
      for (;;) {
        const jobs = await this.#boss.fetch(this.#queue, { batchSize: BURST });
        if (jobs.length === 0) return;
        await this.#boss.complete(
          this.#queue,
          jobs.map(({ id }) => id),
        );
        done += jobs.length;
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    assert(done === JOBS, "every job is completed");
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false });
  }

  get #queue(): string {
    return `jobs-${this.#count}`;
  }
}
