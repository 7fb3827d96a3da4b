import { assertCount } from "@gossip/stdx";

/** What the server accepts before it refuses. */
export interface ServiceLimits {
  /** Bytes of a request's body. */
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Connections over which requests with one token came. */
  readonly maxConnectionsPerToken: number;
  /** How long a client may take to send its headers. */
  readonly headersTimeoutMs: number;
  /** How long a client may take to send a whole request. */
  readonly requestTimeoutMs: number;
  /** How long a connection without a request is kept. */
  readonly keepAliveTimeoutMs: number;
  /** How long a connection may be silent in both directions. Longer than any claim waits. */
  readonly idleTimeoutMs: number;
  /** Elements that are executed at the same time. */
  readonly maxPendingElements: number;
  /** Of those, how many may be claims and other new work: renewals and checkpoints of held leases come first. */
  readonly maxPendingNew: number;
  /** Of those, how many may be of one token. */
  readonly maxPendingPerToken: number;
  /** Bytes of bodies that are being received or executed. */
  readonly maxPendingBytes: number;
  /** Claims that wait for a shard. */
  readonly maxWaitingClaims: number;
  /** Bytes that an event stream may be behind before it is closed. */
  readonly maxUnsentEventBytes: number;
  readonly maxEventStreams: number;
}

export const DEFAULT_SERVICE_LIMITS: ServiceLimits = {
  maxBodyBytes: 16 * 1024 * 1024,
  maxHeaderBytes: 16 * 1024,
  maxConnections: 20_000,
  maxConnectionsPerAddress: 12_000,
  maxConnectionsPerToken: 12_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 75_000,
  idleTimeoutMs: 120_000,
  maxPendingElements: 40_000,
  maxPendingNew: 10_000,
  maxPendingPerToken: 20_000,
  maxPendingBytes: 128 * 1024 * 1024,
  maxWaitingClaims: 20_000,
  maxUnsentEventBytes: 1024 * 1024,
  maxEventStreams: 1_000,
};

export function makeLimits(limits: Partial<ServiceLimits> = {}): ServiceLimits {
  const filled = { ...DEFAULT_SERVICE_LIMITS, ...limits };
  for (const [name, limit] of Object.entries(filled)) assertCount(limit, name, { min: 1, max: 2 ** 40 });
  return filled;
}
