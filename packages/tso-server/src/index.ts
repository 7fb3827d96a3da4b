export type { ClientError } from "./client/client-error.ts";
export type { ClientEndpoint } from "./client/endpoint.ts";
export type { KnownLeader } from "./client/leader-cache.ts";
export { DEFAULT_RETRY_POLICY, type RetryPolicy } from "./client/retry-policy.ts";
export type { ClientTls } from "./client/dial.ts";
export { TimestampClient, type ClientOptions } from "./client/timestamp-client.ts";
export { clientClock, ClockUnavailable, oracleClock } from "./clock/oracle-clock.ts";
export type { ConsensusDriver } from "./driver/consensus-driver.ts";
export type { DriverError, DriverErrorKind } from "./driver/driver-error.ts";
export { foreverMs, leaderAt, UNKNOWN, type LeaderState, type ServesUntil } from "./driver/leader-state.ts";
export { LeadershipFeed } from "./driver/leadership-feed.ts";
export { MemoryDriver, MemoryHighWater } from "./driver/memory-driver.ts";
export { PeerEndpoint, type InvalidEndpoint } from "./driver/peer-endpoint.ts";
export { EtcdDriver, type EtcdDriverOptions } from "./etcd-driver/etcd-driver.ts";
export type { LockError } from "./file/directory-lock.ts";
export { FileDriver, type FileOpenError } from "./file/file-driver.ts";
export type { SlotIo } from "./file/slot-io.ts";
export type { StateFlaw } from "./file/slot-record.ts";
export {
  METRICS,
  type CounterName,
  type GaugeName,
  type HistogramName,
  type MetricName,
} from "./metrics/metric-names.ts";
export { Counter, Gauge, Histogram, Metrics, type MetricValue } from "./metrics/metrics.ts";
export { renderPrometheus } from "./metrics/prometheus.ts";
export type { Answer } from "./oracle/answer.ts";
export type { ClockRefusal } from "./oracle/clock-guard.ts";
export type { GetTsError, LeaderHint, ServingState } from "./oracle/get-ts-error.ts";
export type { WatchError } from "./oracle/leadership-watch.ts";
export type { OracleEvent, OracleOptions } from "./oracle/oracle-options.ts";
export { Oracle } from "./oracle/oracle.ts";
export { startHeartbeat, type Heartbeat } from "./server/heartbeat.ts";
export type { ListenAddress, ListenError } from "./server/listener.ts";
export { DEFAULT_PORT, OracleServer, type ServeOptions, type ServerError } from "./server/oracle-server.ts";
export { DEFAULT_LIMITS, type ServerLimits } from "./server/server-limits.ts";
export type { ServerTls } from "./server/server-tls.ts";
export {
  systemWallClock,
  systemMonotonicClock,
  systemTimers,
  type MonotonicClock,
  type Timers,
} from "./time/system-time.ts";
export type { Status } from "./wire/status.ts";
export { hashToken } from "./wire/token.ts";
