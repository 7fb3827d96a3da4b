const COUNTERS = {
  "tsoracle.get_ts.requests.total": "Requests for timestamps.",
  "tsoracle.get_ts.success.total": "Requests that were granted.",
  "tsoracle.get_ts.timestamps_issued": "Timestamps granted.",
  "tsoracle.window.extensions.total": "Bounds given to the driver to make durable.",
  "tsoracle.window.waits.total": "Requests that found the window exhausted and waited for its extension.",
  "tsoracle.window.extensions.ignored.not_leader.total": "Durable bounds that came after the leadership.",
  "tsoracle.window.extensions.ignored.epoch_mismatch.total": "Durable bounds of an earlier leadership.",
  "tsoracle.window.extensions.ignored.not_advanced.total": "Durable bounds that were no higher than the last.",
  "tsoracle.leader_transition.total": "Leadership events observed.",
  "tsoracle.leader_transition.fence_transient_retries.total": "Fences begun again after a transient failure.",
  "tsoracle.not_leader.total": "Requests refused because this node does not lead.",
  "tsoracle.get_ts.unauthenticated.total": "Requests refused because their connection has no known token.",
  "tsoracle.shutdown.watch_aborted.total": "Shutdowns that ran out of their grace.",
  "tsoracle.heartbeat.task_panicked.total": "Heartbeats that failed.",
  "tsoracle.clock.refused.total": "Clock readings refused for a step too far forward.",
  "tsoracle.clock.runaway.total": "Requests refused because issued time leads the clock too far.",
  "tsoracle.connection.malformed.total": "Connections closed for bytes that are no request.",
  "tsoracle.connection.refused.total": "Connections refused because there were too many.",
  "tsoracle.connection.dropped.total": "Connections closed for a timeout, or for answers that the client did not read.",
  "tsoracle.client.not_leader.total": "Answers from a node that does not lead.",
  "tsoracle.client.leader_pivots.total": "Moves to another leader.",
  "tsoracle.client.retries.total": "Attempts that failed, by reason.",
  "tsoracle.client.leader_hint.decode_failures.total": "Leader hints that are no endpoint.",
  "tsoracle.client.leader_hint.stale.total": "Leader hints that a known leader outranks.",
  "tsoracle.client.leader_redirect_cap.total": "Sweeps ended by too many redirects.",
  "tsoracle.client.leader_redirect_total_cap.total": "Calls ended by too many redirects.",
  "tsoracle.client.connect.failures.total": "Connections that could not be made.",
  "tsoracle.client.floor_violations.total": "Replies refused for not being above what was already returned.",
} as const;

const GAUGES = {
  "tsoracle.connection.open": "Open connections.",
  "tsoracle.connection.unsent_bytes": "Bytes that wait for clients to read.",
  "tsoracle.clock.lead_ms": "How far the durable bound leads the clock, in milliseconds.",
  "tsoracle.client.driver.queue_depth": "Callers that wait to be sent.",
  "tsoracle.client.driver.in_flight": "Requests sent and not yet answered.",
} as const;

const HISTOGRAMS = {
  "tsoracle.window.extension_latency": "How long making a bound durable took, failed or not.",
  "tsoracle.leader_transition.fence_latency": "How long a fence took until serving began.",
  "tsoracle.client.connect.duration": "How long connecting took.",
} as const;

/**
 * Every metric and its description, by the name under which it is published. The names are public: dashboards hold on to them.
 *
 * In Prometheus text the dots become underscores; durations are in seconds.
 */
export const METRICS = { ...COUNTERS, ...GAUGES, ...HISTOGRAMS };

export type CounterName = keyof typeof COUNTERS;
export type GaugeName = keyof typeof GAUGES;
export type HistogramName = keyof typeof HISTOGRAMS;
export type MetricName = keyof typeof METRICS;

/** Why a client tried again: the label of `tsoracle.client.retries.total`. */
export type RetryReason = "connect_failure" | "not_leader" | "transport" | "decode_error" | "deadline_exceeded";
