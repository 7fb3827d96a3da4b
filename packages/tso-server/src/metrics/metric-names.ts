/**
 * Every metric, by the name under which it is published. The names are public: dashboards hold on to them.
 *
 * In Prometheus text the dots become underscores; durations are in seconds.
 */
export const METRICS = {
  "tsoracle.get_ts.requests.total": { type: "counter", help: "Requests for timestamps." },
  "tsoracle.get_ts.success.total": { type: "counter", help: "Requests that were granted." },
  "tsoracle.get_ts.timestamps_issued": { type: "counter", help: "Timestamps granted." },
  "tsoracle.window.extensions.total": { type: "counter", help: "Bounds given to the driver to make durable." },
  "tsoracle.window.waits.total": {
    type: "counter",
    help: "Requests that found the window exhausted and waited for its extension.",
  },
  "tsoracle.window.extension_latency": {
    type: "histogram",
    help: "How long making a bound durable took, failed or not.",
  },
  "tsoracle.window.extensions.ignored.not_leader.total": {
    type: "counter",
    help: "Durable bounds that came after the leadership.",
  },
  "tsoracle.window.extensions.ignored.epoch_mismatch.total": {
    type: "counter",
    help: "Durable bounds of an earlier leadership.",
  },
  "tsoracle.window.extensions.ignored.not_advanced.total": {
    type: "counter",
    help: "Durable bounds that were no higher than the last.",
  },
  "tsoracle.leader_transition.total": { type: "counter", help: "Leadership events observed." },
  "tsoracle.leader_transition.fence_latency": { type: "histogram", help: "How long a fence took until serving began." },
  "tsoracle.leader_transition.fence_transient_retries.total": {
    type: "counter",
    help: "Fences begun again after a transient failure.",
  },
  "tsoracle.not_leader.total": { type: "counter", help: "Requests refused because this node does not lead." },
  "tsoracle.get_ts.unauthenticated.total": {
    type: "counter",
    help: "Requests refused because their connection has no known token.",
  },
  "tsoracle.shutdown.watch_aborted.total": { type: "counter", help: "Shutdowns that ran out of their grace." },
  "tsoracle.heartbeat.task_panicked.total": { type: "counter", help: "Heartbeats that failed." },
  "tsoracle.clock.refused.total": { type: "counter", help: "Clock readings refused for a step too far forward." },
  "tsoracle.clock.runaway.total": {
    type: "counter",
    help: "Requests refused because issued time leads the clock too far.",
  },
  "tsoracle.connection.malformed.total": { type: "counter", help: "Connections closed for bytes that are no request." },
  "tsoracle.connection.refused.total": { type: "counter", help: "Connections refused because there were too many." },
  "tsoracle.connection.dropped.total": {
    type: "counter",
    help: "Connections closed for a timeout, or for answers that the client did not read.",
  },
  "tsoracle.connection.open": { type: "gauge", help: "Open connections." },
  "tsoracle.connection.unsent_bytes": { type: "gauge", help: "Bytes that wait for clients to read." },
  "tsoracle.clock.lead_ms": { type: "gauge", help: "How far the durable bound leads the clock, in milliseconds." },
  "tsoracle.client.not_leader.total": { type: "counter", help: "Answers from a node that does not lead." },
  "tsoracle.client.leader_pivots.total": { type: "counter", help: "Moves to another leader." },
  "tsoracle.client.retries.total": { type: "counter", help: "Attempts that failed, by reason." },
  "tsoracle.client.leader_hint.decode_failures.total": { type: "counter", help: "Leader hints that are no endpoint." },
  "tsoracle.client.leader_hint.stale.total": { type: "counter", help: "Leader hints that a known leader outranks." },
  "tsoracle.client.leader_redirect_cap.total": { type: "counter", help: "Sweeps ended by too many redirects." },
  "tsoracle.client.leader_redirect_total_cap.total": { type: "counter", help: "Calls ended by too many redirects." },
  "tsoracle.client.connect.duration": { type: "histogram", help: "How long connecting took." },
  "tsoracle.client.connect.failures.total": { type: "counter", help: "Connections that could not be made." },
  "tsoracle.client.floor_violations.total": {
    type: "counter",
    help: "Replies refused for not being above what was already returned.",
  },
  "tsoracle.client.driver.queue_depth": { type: "gauge", help: "Callers that wait to be sent." },
  "tsoracle.client.driver.in_flight": { type: "gauge", help: "Requests sent and not yet answered." },
} as const satisfies Record<string, { readonly type: "counter" | "gauge" | "histogram"; readonly help: string }>;

export type MetricName = keyof typeof METRICS;

type NamesOf<Type extends string> = {
  [Name in MetricName]: (typeof METRICS)[Name]["type"] extends Type ? Name : never;
}[MetricName];

export type CounterName = NamesOf<"counter">;
export type GaugeName = NamesOf<"gauge">;
export type HistogramName = NamesOf<"histogram">;

/** Why a client tried again: the label of `tsoracle.client.retries.total`. */
export type RetryReason = "connect_failure" | "not_leader" | "transport" | "decode_error" | "deadline_exceeded";
