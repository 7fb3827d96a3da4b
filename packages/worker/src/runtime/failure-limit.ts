import { assert, assertCount } from "@gossip/stdx";

/** How many items may fail before a run counts as failing as a whole: a number, or a share of the items, as `"5%"`. */
export type MaxFailures = number | `${number}%`;

/** A share is not judged before this many items were tried. */
const MIN_TRIED = 100;

const PERCENT = /^(\d{1,3}(?:\.\d{1,6})?)%$/;

/** What this process has done. */
interface Tried {
  readonly items: number;
  readonly failures: number;
}

/** Decides when a run is failing as a whole. */
export class FailureLimit {
  readonly #maxCount: number | undefined;
  readonly #maxShare: number | undefined;

  constructor(maxFailures: MaxFailures) {
    if (typeof maxFailures === "number") {
      assertCount(maxFailures, "maxFailures", { min: 0, max: Number.MAX_SAFE_INTEGER - 1 });
      this.#maxCount = maxFailures;
      return;
    }
    const percent = typeof maxFailures === "string" ? Number(PERCENT.exec(maxFailures)?.[1] ?? NaN) : NaN;
    assert(percent >= 0 && percent <= 100, 'maxFailures must be a number of items, or a share such as "5%"');
    this.#maxShare = percent / 100;
  }

  /** How far the failures of the run need to be counted. `undefined` if only a share matters. */
  get countLimit(): number | undefined {
    return this.#maxCount === undefined ? undefined : this.#maxCount + 1;
  }

  /** Whether too many items failed. `recorded` is how many the run has on record, by all workers. */
  isExceeded({ items, failures }: Tried, recorded: number): boolean {
    if (this.#maxCount !== undefined) return Math.max(failures, recorded) > this.#maxCount;
    const tried = items + failures;
    return tried >= MIN_TRIED && failures > (this.#maxShare ?? 1) * tried;
  }
}
