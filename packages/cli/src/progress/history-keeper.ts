import type { LogicalTime, WorkerId } from "@gossip/contracts";
import type { CoordinationStore, RunRequest, ShardRecord } from "@gossip/coordination";
import { HistoryRecorder, KeyAxisBuilder, RunSampler, type KeyAxis, type RunFigures } from "@gossip/insight";
import { randomBytes } from "node:crypto";
import type { OwnWork } from "./own-work.ts";

export interface HistoryKeeperOptions {
  readonly store: CoordinationStore;
  readonly request: RunRequest;
  readonly leaseMs: number;
  readonly worker: WorkerId;
  readonly own: OwnWork;
}

/**
 * Calls `visit` with every shard, by range start. Returns the time of the look, or `undefined` if it did not see all
 * shards.
 */
export type LookAtShards = (
  visit: (shard: ShardRecord, now: LogicalTime) => void,
) => Promise<LogicalTime | undefined> | LogicalTime | undefined;

/** Keeps the history of a run from the looks that its progress display makes anyway. */
export class HistoryKeeper {
  readonly #options: HistoryKeeperOptions;
  readonly #recorder: HistoryRecorder;
  #sampler: RunSampler | undefined;
  #lastMs = 0;

  constructor(options: HistoryKeeperOptions) {
    this.#options = options;
    const { store, request } = options;
    this.#recorder = new HistoryRecorder({ store, run: request, writer: randomBytes(8).toString("hex") });
  }

  /** Add a look at all shards, and write if it is time. Rejects if `look` does. */
  async add(look: LookAtShards, figures: RunFigures): Promise<void> {
    const { leaseMs, worker, own } = this.#options;
    const axis = this.#sampler === undefined ? await axisOf(look) : undefined;
    this.#sampler ??= axis && new RunSampler({ axis, leaseMs });
    const sampler = this.#sampler;
    if (sampler === undefined) return;
    // A look that ends early leaves half of its counts behind: then the next one begins anew.
    this.#sampler = undefined;
    const now = await look((shard, at) => sampler.visit(shard, at));
    if (now === undefined) return;
    this.#sampler = sampler;
    const sample = sampler.end(now);
    this.#lastMs = sample.atMs;
    for (const shard of own.takeRejections()) this.#recorder.reject({ shard, worker, atMs: sample.atMs });
    this.#recorder.add(sample, figures);
    await this.#recorder.flush(sample.atMs);
  }

  /** Write what is left, and let another process write. Never rejects. */
  async end(): Promise<void> {
    if (this.#recorder.isWriter) await this.#recorder.flush(this.#lastMs, { isLast: true });
  }
}

async function axisOf(look: LookAtShards): Promise<KeyAxis | undefined> {
  const builder = new KeyAxisBuilder();
  const now = await look(({ spec, parent }) =>
    builder.add({ start: spec.keyRangeStart, end: spec.keyRangeEnd, isInitial: parent === undefined }),
  );
  return now === undefined ? undefined : builder.build();
}
