import type { LogicalTime } from "@gossip/contracts";
import { CapacityHint } from "@gossip/coordination";
import type { GetOperation, RangeResult } from "@gossip/etcd-client";
import { InvariantViolation } from "@gossip/stdx";
import { capacityGets, readCapacity, readHint } from "./capacity.ts";
import type { ExpectedLook, TimeSpan } from "./known-capacities.ts";
import type { RunAddress, Space } from "../layout/layout.ts";
import { hintAt, isGoodAt, type RunCapacity } from "./run-capacity.ts";
import type { StoreParts } from "../store-parts.ts";
import type { Windows } from "../claim/windows.ts";

/** A run whose capacity is asked for behind a batch of updates, and for which times. */
export interface AskedRun extends TimeSpan {
  readonly address: RunAddress;
  /** What the address is in a key. */
  readonly path: string;
  readonly space: Space;
}

/**
 * A run's capacity behind a batch of updates: as it is known, or as looks in the same transaction tell.
 *
 * To be made when the transaction is about to be sent.
 */
export class HintsOfRun {
  /** What to look at behind the updates. */
  readonly gets: readonly GetOperation[];
  readonly #parts: StoreParts;
  readonly #asked: AskedRun;
  readonly #used: Windows;
  readonly #expected: ExpectedLook | undefined;
  #found: readonly RangeResult[] | undefined;
  #capacity: RunCapacity | undefined;
  /** Where the looks did not tell enough: what another, for all of the batch, tells. */
  #again: Promise<CapacityHint> | undefined;

  constructor(parts: StoreParts, asked: AskedRun) {
    const { cluster, windows, capacities } = parts;
    this.#parts = parts;
    this.#asked = asked;
    this.#used = windows.of(asked.space);
    this.#capacity = capacities.of(asked.path, asked);
    this.#expected = this.#capacity === undefined ? capacities.expect(asked.path) : undefined;
    // Far enough for the latest time: what lapses before it is told apart when it is read.
    const query = { space: asked.space, windows: this.#used, now: asked.to };
    this.gets = this.#capacity === undefined ? capacityGets(cluster.layout, asked.address, query) : [];
  }

  /** Take what the gets found. */
  take(found: readonly RangeResult[]): void {
    this.#found = found;
  }

  /** At once where enough is known, as it nearly always is. */
  of(now: LogicalTime): CapacityHint | Promise<CapacityHint> {
    try {
      // A batch comes together within a millisecond or two, so that what was read for one serves the others, too.
      const capacity = this.#capacity !== undefined && isGoodAt(this.#capacity, now) ? this.#capacity : this.#read(now);
      if (capacity !== undefined) return hintAt(capacity, now);
      this.#again ??= readHint(this.#parts, { ...this.#asked.address, now }).catch(withoutAdvice);
      return this.#again;
    } catch (thrown) {
      return withoutAdvice(thrown);
    }
  }

  #read(now: LogicalTime): RunCapacity | undefined {
    if (this.#found === undefined) return undefined;
    const { capacity, next } = readCapacity(this.#found, now, this.#used);
    this.#parts.windows.learn(this.#asked.space, next);
    if (capacity === undefined) return undefined;
    if (this.#expected !== undefined) this.#parts.capacities.learn(this.#expected, capacity);
    this.#capacity = capacity;
    return capacity;
  }
}

/** Advice that cannot be had is none. The write is made, and must be answered so. */
function withoutAdvice(thrown: unknown): CapacityHint {
  if (thrown instanceof InvariantViolation) throw thrown;
  return CapacityHint.ZERO;
}
