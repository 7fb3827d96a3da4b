import type { HistoryWriter } from "@gossip/insight";

/** A writer of history writes every five seconds. */
const SILENT_MS = 7500;

/**
 * Whether the process that writes a run's history seems to be gone, so that what this process has seen is newer. While it
 * writes, both together would count items twice: a watcher sees an item later than its writer counts it.
 */
export function isSilent({ atMs }: Pick<HistoryWriter, "atMs">, nowMs: number): boolean {
  return nowMs - atMs > SILENT_MS;
}
