import { CapacityHint, type UpdateShardSet } from "@gossip/coordination";
import type { RangeResult } from "@gossip/etcd-client";
import { InvariantViolation } from "@gossip/stdx";
import { readCapacity, readHint } from "./capacity.ts";
import { pathOf, type Space } from "./layout.ts";
import type { StoreParts } from "./store-parts.ts";
import type { Windows } from "./windows.ts";

/** What was looked at of a run behind a batch of updates. */
export interface CapacityLook {
  readonly space: Space;
  readonly used: Windows;
  readonly found: readonly RangeResult[];
}

/** The capacities of runs after a batch of updates. */
export class HintsOfBatch {
  readonly #parts: StoreParts;
  /** By the path of the run. */
  readonly #looks: ReadonlyMap<string, CapacityLook>;
  /** Of runs of which the look did not tell enough: what another look, for all of the batch, told. */
  readonly #again = new Map<string, Promise<CapacityHint>>();

  constructor(parts: StoreParts, looks: ReadonlyMap<string, CapacityLook>) {
    this.#parts = parts;
    this.#looks = looks;
  }

  async of({ tenant, run, hintAt: now }: UpdateShardSet): Promise<CapacityHint | undefined> {
    if (now === undefined) return undefined;
    const path = pathOf({ tenant, run });
    try {
      const look = this.#looks.get(path);
      if (look !== undefined) {
        const { hint, next } = readCapacity(look.found, now, look.used);
        this.#parts.windows.learn(look.space, next);
        if (hint !== undefined) return hint;
      }
      // A batch comes together within a millisecond or two: what holds for the first that asks will do for the others.
      const again = this.#again.get(path) ?? readHint(this.#parts, { tenant, run, now });
      this.#again.set(path, again);
      return await again;
    } catch (thrown) {
      if (thrown instanceof InvariantViolation) throw thrown;
      // Advice. The write is made, and must be answered so.
      return CapacityHint.ZERO;
    }
  }
}
