import { CapacityHint, type RunMoment, type UpdateShardSet } from "@gossip/coordination";
import type { RangeResult } from "@gossip/etcd-client";
import { InvariantViolation } from "@gossip/stdx";
import { readCapacity, readHint } from "./capacity.ts";
import type { Cluster } from "./cluster.ts";
import { pathOf, type Space } from "./layout.ts";
import type { RunHeads } from "./run-heads.ts";
import type { KnownWindows, Windows } from "./windows.ts";

export interface HintParts {
  readonly cluster: Cluster;
  readonly heads: RunHeads;
  readonly windows: KnownWindows;
}

/** What was looked at of a run behind a batch of updates. */
export interface CapacityLook {
  readonly space: Space;
  readonly used: Windows;
  readonly found: readonly RangeResult[];
}

/** The capacities of runs after a batch of updates, each run and moment found out once. */
export class HintsOfBatch {
  readonly #parts: HintParts;
  /** By the path of the run. */
  readonly #looks: ReadonlyMap<string, CapacityLook>;
  readonly #hints = new Map<string, Promise<CapacityHint>>();

  constructor(parts: HintParts, looks: ReadonlyMap<string, CapacityLook>) {
    this.#parts = parts;
    this.#looks = looks;
  }

  async of({ tenant, run, hintAt: now }: UpdateShardSet): Promise<CapacityHint | undefined> {
    if (now === undefined) return undefined;
    const name = `${pathOf({ tenant, run })} ${now}`;
    const hint = this.#hints.get(name) ?? this.#find({ tenant, run, now });
    this.#hints.set(name, hint);
    return hint;
  }

  async #find(moment: RunMoment): Promise<CapacityHint> {
    const { heads, windows, cluster } = this.#parts;
    const look = this.#looks.get(pathOf(moment));
    try {
      if (look !== undefined) {
        const { hint, next } = readCapacity(look.found, moment.now, look.used);
        windows.learn(look.space, next);
        if (hint !== undefined) return hint;
      }
      return await readHint(heads, windows, moment, cluster.layout);
    } catch (thrown) {
      if (thrown instanceof InvariantViolation) throw thrown;
      // Advice. The write is made, and must be answered so.
      return CapacityHint.ZERO;
    }
  }
}
