import { compareBytes } from "@gossip/stdx";
import type { ShardRecord } from "../../../records/shard-record.ts";
import type { CoverageFault, RunAddress, Violation } from "./violation.ts";

/** A range of keys, the end not in it. Both bounds are there: a run registers no other. */
export interface KeyRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

/**
 * V1, coverage conservation: the ranges of a run's leaves tile the registered ranges, without gap or overlap. Every shard
 * that was not split is a leaf.
 *
 * A key in a gap would silently never be processed; one in an overlap would be processed twice.
 */
export function checkCoverage(
  address: RunAddress,
  registered: readonly KeyRange[],
  records: readonly ShardRecord[],
): Violation[] {
  const leaves = records
    .filter((record) => record.status !== "Split")
    .map(({ spec }) => ({ start: spec.keyRangeStart, end: spec.keyRangeEnd }))
    .toSorted(byStart);
  const fault = findCoverageFault(registered.toSorted(byStart), leaves);
  return fault === undefined ? [] : [{ kind: "CoverageConservation", ...address, fault }];
}

function findCoverageFault(registered: readonly KeyRange[], leaves: readonly KeyRange[]): CoverageFault | undefined {
  let next = 0;
  for (const { start, end } of registered) {
    let at = start;
    while (compareBytes(at, end) < 0) {
      const leaf = leaves[next++];
      if (leaf === undefined) return "Gap";
      const order = compareBytes(leaf.start, at);
      if (order !== 0) return order < 0 ? "Overlap" : "Gap";
      if (compareBytes(leaf.end, end) > 0 || compareBytes(leaf.end, at) <= 0) return "Outside";
      at = leaf.end;
    }
  }
  return next < leaves.length ? "Outside" : undefined;
}

function byStart(a: KeyRange, b: KeyRange): number {
  return compareBytes(a.start, b.start);
}
