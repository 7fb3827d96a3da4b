import type { LogicalTime } from "@gossip/contracts";
import { ok, type Result } from "@gossip/stdx";
import type { InfraError } from "@gossip/coordination-errors";
import type { UnsettledCounts } from "../kernel/end-run.ts";
import type { LoadedRegistration } from "../kernel/register-shards.ts";
import type { PutRun, RemoveRun } from "../kernel/transition.ts";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import type { RunRead, StoreVersion } from "../store/store-reads.ts";
import type { WriteSet } from "../store/write-set.ts";
import type { Engine } from "./engine.ts";
import type { Target } from "./operation.ts";
import type { RunRequest } from "./queries.ts";

/** A run, and the states of its shards if the operation depends on them. */
export interface RunSituation {
  readonly loaded: RunRead;
  readonly counts?: UnsettledCounts;
  /** What a registration needs to know of the pages that the run has. */
  readonly pages?: Omit<LoadedRegistration, "run">;
}

/** A run as the target of an operation. No worker holds a run, so nothing is copied. */
export class RunTarget implements Target<RunSituation, PutRun | RemoveRun> {
  readonly #engine: Engine;
  readonly #address: RunRequest;

  constructor(engine: Engine, { tenant, run }: RunRequest) {
    this.#engine = engine;
    this.#address = { tenant, run };
  }

  async read(): Promise<Result<RunSituation, InfraError>> {
    const read = await this.#engine.store.readRun(this.#address.tenant, this.#address.run);
    return read.ok ? ok({ loaded: read.value }) : read;
  }

  toWriteSet({ loaded }: RunSituation, writes: PutRun | RemoveRun): WriteSet {
    const guard = versionOf(loaded);
    // The kernel decides to remove only a run that was found.
    if (writes.kind === "RemoveRun") return { kind: "RemoveRun", ...this.#address, guard: guard! };
    const { run: after, created, noShardsIn } = writes;
    return { kind: "PutRun", ...this.#address, guard, after, created, limits: this.#engine.limits, noShardsIn };
  }

  after(_read: RunSituation, writes: PutRun | RemoveRun, version: StoreVersion): RunSituation {
    if (writes.kind === "RemoveRun") return { loaded: { kind: "Deleted" } };
    return { loaded: { kind: "Found", record: writes.run, version } };
  }

  async readHint(_now: LogicalTime): Promise<undefined> {}

  get lostCount(): number {
    return this.#engine.unresolvedRuns.addedCount;
  }

  settleLost({ loaded }: RunSituation, lostBefore: number): readonly CoordinationEvent[] {
    return this.#engine.unresolvedRuns.settle(this.#address, loaded, { addedCount: lostBefore });
  }

  rememberLost({ loaded }: RunSituation, writes: PutRun | RemoveRun, events: readonly CoordinationEvent[]): void {
    const before = loaded.kind === "Found" ? loaded.record : undefined;
    const after = writes.kind === "PutRun" ? writes.run : undefined;
    this.#engine.unresolvedRuns.add(this.#address, { write: { guard: versionOf(loaded), before, after }, events });
  }

  forgetLost({ loaded }: RunSituation): void {
    this.#engine.unresolvedRuns.forget(this.#address, versionOf(loaded));
  }
}

function versionOf(loaded: RunRead): StoreVersion | undefined {
  return loaded.kind === "Found" ? loaded.version : undefined;
}
