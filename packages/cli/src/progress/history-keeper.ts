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

  /** Add a look at all shards, and write if it is time. Never rejects. */
  async add(shards: readonly ShardRecord[], now: LogicalTime, figures: RunFigures): Promise<void> {
    const { leaseMs, worker, own } = this.#options;
    const axis = this.#sampler === undefined ? axisOf(shards) : undefined;
    this.#sampler ??= axis && new RunSampler({ axis, leaseMs });
    if (this.#sampler === undefined) return;
    for (const shard of shards) this.#sampler.visit(shard, now);
    const sample = this.#sampler.end(now);
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

function axisOf(shards: readonly ShardRecord[]): KeyAxis | undefined {
  const builder = new KeyAxisBuilder();
  for (const { spec, parent } of shards)
    builder.add({ start: spec.keyRangeStart, end: spec.keyRangeEnd, isInitial: parent === undefined });
  return builder.build();
}
