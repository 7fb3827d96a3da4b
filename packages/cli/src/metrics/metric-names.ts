/** Every metric of `--metrics`. The reference page has this table. Names never change their meaning. */
export const METRICS = {
  gossip_run_info: { type: "gauge", help: "1. Labels: run, worker, version, source." },
  gossip_run_fraction: { type: "gauge", help: "Share of the run's items that are done. Left out while unknown." },
  gossip_run_eta_seconds: { type: "gauge", help: "Time left. Left out while it cannot be predicted." },
  gossip_run_items_per_second: { type: "gauge", help: "Items per second of the whole run, of late." },
  gossip_run_items: { type: "gauge", help: "Items of the run that are done, including failed ones." },
  gossip_run_failures: { type: "gauge", help: "Items of the run that failed." },
  gossip_run_unreadable: { type: "gauge", help: "Items of the run that could not be read." },
  gossip_run_shards: { type: "gauge", help: "Shards of the run by state: done, leased, waiting, parked." },
  gossip_store_up: { type: "gauge", help: "1 if the store responds, else 0." },
  gossip_source_up: { type: "gauge", help: "1 if the source responds, else 0." },
  gossip_results_up: { type: "gauge", help: "0 if the disk of the results is full, else 1." },
  gossip_worker_items_total: { type: "counter", help: "Items that this process finished." },
  gossip_worker_failures_total: { type: "counter", help: "Items that this process gave up." },
  gossip_worker_retries_total: { type: "counter", help: "Attempts that this process repeated." },
  gossip_worker_splits_total: { type: "counter", help: "Shards that this process split." },
  gossip_worker_leases: { type: "gauge", help: "Shards that this process holds." },
  gossip_worker_leases_lost_total: { type: "counter", help: "Shards that this process lost." },
  gossip_store_call_duration_seconds: { type: "histogram", help: "Duration of store calls by operation." },
} as const satisfies Readonly<
  Record<string, { readonly type: "gauge" | "counter" | "histogram"; readonly help: string }>
>;

export type MetricName = keyof typeof METRICS;
