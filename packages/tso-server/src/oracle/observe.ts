import type { CommitIgnored } from "@gossip/tso";
import type { CounterName } from "../metrics/metric-names.ts";
import type { Metrics } from "../metrics/metrics.ts";

const IGNORED_COUNTERS = {
  NotLeader: "tsoracle.window.extensions.ignored.not_leader.total",
  EpochMismatch: "tsoracle.window.extensions.ignored.epoch_mismatch.total",
  NotAdvanced: "tsoracle.window.extensions.ignored.not_advanced.total",
} as const satisfies Record<CommitIgnored["kind"], CounterName>;

export function countIgnored(metrics: Metrics, reason: CommitIgnored["kind"]): void {
  metrics.counter(IGNORED_COUNTERS[reason]).add();
}

/** Something thrown, as a sentence for an error value. */
export function describeThrown(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : "something that is no Error was thrown";
}
