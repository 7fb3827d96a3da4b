import type { RunId, ShardId, TenantId } from "@gossip/contracts";
import type { RunRecord } from "../../records/run-record.ts";
import type { ShardRecord } from "../../records/shard-record.ts";
import type { WriteSet } from "../../store/write-set.ts";
import { failurePassed } from "./invariants/check-ledger.ts";
import type { KeyRange } from "./invariants/check-coverage.ts";

/** A run and its shards. */
export interface MirroredRun {
  run: RunRecord;
  readonly shards: Map<ShardId, ShardRecord>;
  /** The ranges of the run's first shards. */
  readonly registered: KeyRange[];
  /** Failing items that a write moved past, as text. */
  readonly failures: Set<string>;
}

/**
 * What a store must hold: every write that was answered `Committed`, and nothing else. Only the simulator knows it, none
 * of its workers does.
 */
export class StoreMirror {
  readonly #runs = new Map<string, MirroredRun>();
  readonly #changed = new Set<string>();

  get runs(): Iterable<MirroredRun> {
    return this.#runs.values();
  }

  run(tenant: TenantId, run: RunId): MirroredRun | undefined {
    return this.#runs.get(nameRun(tenant, run));
  }

  shard({
    tenant,
    run,
    shard,
  }: {
    readonly tenant: TenantId;
    readonly run: RunId;
    readonly shard: ShardId;
  }): ShardRecord | undefined {
    return this.run(tenant, run)?.shards.get(shard);
  }

  /** The runs that were written since the last call, without those that were removed. */
  takeChanged(): MirroredRun[] {
    const changed = [...this.#changed].flatMap((name) => this.#runs.get(name) ?? []);
    this.#changed.clear();
    return changed;
  }

  write(set: WriteSet): void {
    const name = nameRun(set.tenant, set.run);
    this.#changed.add(name);
    const found = this.#runs.get(name);
    switch (set.kind) {
      case "RemoveRun":
        this.#runs.delete(name);
        return;
      case "WriteNotes":
        return;
      case "UpdateShard": {
        const { after } = set.shard;
        const passed = failurePassed(found?.shards.get(after.shard), after);
        if (passed !== undefined) found?.failures.add(passed);
        found?.shards.set(after.shard, after);
        return;
      }
      case "SplitShard":
        found?.shards.set(set.shard.after.shard, set.shard.after);
        for (const created of set.created) found?.shards.set(created.shard, created);
        return;
      case "PutRun": {
        const mirrored: MirroredRun = found ?? {
          run: set.after,
          shards: new Map(),
          registered: [],
          failures: new Set(),
        };
        mirrored.run = set.after;
        for (const created of set.created) {
          mirrored.shards.set(created.shard, created);
          mirrored.registered.push({ start: created.spec.keyRangeStart, end: created.spec.keyRangeEnd });
        }
        this.#runs.set(name, mirrored);
      }
    }
  }
}

function nameRun(tenant: TenantId, run: RunId): string {
  return `${tenant}/${run}`;
}
