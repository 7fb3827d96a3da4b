// Dashboards and alerts hold on to these names: one that changes is an alarm that never rings.
import { describe, expect, test } from "vitest";
import { METRICS } from "./metric-names.ts";
import { HISTOGRAM_BOUNDS_S, Metrics } from "./metrics.ts";
import { renderPrometheus } from "./prometheus.ts";

const PUBLISHED = [
  "tsoracle.get_ts.requests.total",
  "tsoracle.get_ts.success.total",
  "tsoracle.get_ts.timestamps_issued",
  "tsoracle.window.extensions.total",
  "tsoracle.window.extension_latency",
  "tsoracle.window.extensions.ignored.not_leader.total",
  "tsoracle.window.extensions.ignored.epoch_mismatch.total",
  "tsoracle.window.extensions.ignored.not_advanced.total",
  "tsoracle.leader_transition.total",
  "tsoracle.leader_transition.fence_latency",
  "tsoracle.leader_transition.fence_transient_retries.total",
  "tsoracle.not_leader.total",
  "tsoracle.shutdown.watch_aborted.total",
  "tsoracle.heartbeat.task_panicked.total",
  "tsoracle.client.not_leader.total",
  "tsoracle.client.leader_pivots.total",
  "tsoracle.client.retries.total",
  "tsoracle.client.leader_hint.decode_failures.total",
  "tsoracle.client.leader_hint.stale.total",
  "tsoracle.client.leader_redirect_cap.total",
  "tsoracle.client.leader_redirect_total_cap.total",
  "tsoracle.client.connect.duration",
  "tsoracle.client.connect.failures.total",
  "tsoracle.client.driver.queue_depth",
  "tsoracle.client.driver.in_flight",
] as const;

const ADDED = [
  "tsoracle.get_ts.unauthenticated.total",
  "tsoracle.window.waits.total",
  "tsoracle.clock.refused.total",
  "tsoracle.clock.runaway.total",
  "tsoracle.clock.lead_ms",
  "tsoracle.connection.malformed.total",
  "tsoracle.connection.refused.total",
  "tsoracle.connection.dropped.total",
  "tsoracle.connection.open",
  "tsoracle.connection.unsent_bytes",
  "tsoracle.client.floor_violations.total",
] as const;

describe("metrics", () => {
  test("have the published names, and ours", () => {
    expect(Object.keys(METRICS).toSorted()).toEqual([...PUBLISHED, ...ADDED].toSorted());
  });

  test("one name is one value, and labels tell values of a name apart", () => {
    const metrics = new Metrics();
    metrics.counter("tsoracle.client.retries.total", 'reason="transport"').add(2);
    metrics.counter("tsoracle.client.retries.total", 'reason="transport"').add();
    metrics.counter("tsoracle.client.retries.total", 'reason="not_leader"').add(5);
    expect(renderPrometheus(metrics)).toBe(
      "# HELP tsoracle_client_retries_total Attempts that failed, by reason.\n" +
        "# TYPE tsoracle_client_retries_total counter\n" +
        'tsoracle_client_retries_total{reason="not_leader"} 5\n' +
        'tsoracle_client_retries_total{reason="transport"} 3\n',
    );
  });

  test("a gauge is what it was set to, or what it follows", () => {
    const gauge = new Metrics().gauge("tsoracle.clock.lead_ms");
    expect(gauge.value).toBe(0);
    gauge.value = 7;
    expect(gauge.value).toBe(7);
    let followed = 1;
    gauge.follow(() => followed);
    followed = 2;
    expect(gauge.value).toBe(2);
  });

  test("a histogram counts in seconds, each bucket with all below it", () => {
    const histogram = new Metrics().histogram("tsoracle.window.extension_latency");
    for (const ms of [0.4, 0.5, 3, 99_999, -1]) histogram.observeMs(ms);
    const counts = histogram.cumulativeCounts();
    expect([
      counts[0],
      counts[HISTOGRAM_BOUNDS_S.indexOf(0.0025)],
      counts[HISTOGRAM_BOUNDS_S.indexOf(0.005)],
      counts.at(-1),
      histogram.count,
    ]).toEqual([3, 3, 4, 4, 5]);
    expect(histogram.sumS).toBeCloseTo(100.0029, 6);
  });
});
