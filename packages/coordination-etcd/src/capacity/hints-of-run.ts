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

/** A run whose capacity is read after a batch of updates, and the times it is needed for. */
export interface AskedRun extends TimeSpan {
  readonly address: RunAddress;
  /** The address as it appears in keys. */
  readonly path: string;
  readonly space: Space;
}

/**
 * A run's capacity after a batch of updates: cached, or read in the same transaction.
 *
 * Create it right before sending the transaction.
 */
export class HintsOfRun {
  /** The gets to append to the updates. */
  readonly gets: readonly GetOperation[];
  readonly #parts: StoreParts;
  readonly #asked: AskedRun;
  readonly #used: Windows;
  readonly #expected: ExpectedLook | undefined;
  #found: readonly RangeResult[] | undefined;
  #capacity: RunCapacity | undefined;
  /** A second read, shared by the whole batch, if the first was not conclusive. */
  #again: Promise<CapacityHint> | undefined;

  constructor(parts: StoreParts, asked: AskedRun) {
    const { cluster, windows, capacities } = parts;
    this.#parts = parts;
    this.#asked = asked;
    this.#used = windows.of(asked.space);
    this.#capacity = capacities.of(asked.path, asked);
    this.#expected = this.#capacity === undefined ? capacities.expect(asked.path) : undefined;
    // Covers the latest time. Reading the result accounts for leases that expire earlier.
    const query = { space: asked.space, windows: this.#used, now: asked.to };
    this.gets = this.#capacity === undefined ? capacityGets(cluster.layout, asked.address, query) : [];
  }

  /** Stores the results of the gets. */
  take(found: readonly RangeResult[]): void {
    this.#found = found;
  }

  /** Returns a promise only in the rare case that another read is needed. */
  of(now: LogicalTime): CapacityHint | Promise<CapacityHint> {
    try {
      // The times of one batch are a millisecond or two apart, so one reading usually serves all of them.
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

/** The write is committed and must be reported so, even if its hint cannot be read. */
function withoutAdvice(thrown: unknown): CapacityHint {
  if (thrown instanceof InvariantViolation) throw thrown;
  return CapacityHint.ZERO;
}
