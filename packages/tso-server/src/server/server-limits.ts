import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/** What a server allows its connections. The framed protocol and HTTP are counted apart, so that probes always get through. */
export interface ServerLimits {
  /** Most connections at a time. */
  readonly maxConnections: number;
  /** Most connections from one network address. Unix sockets have none and do not count. */
  readonly maxConnectionsPerAddress: number;
  /** How long a connection may take to send the protocol's preface, or the header of an HTTP request. */
  readonly prefaceTimeoutMs: number;
  /** How long a connection may send nothing. */
  readonly idleTimeoutMs: number;
  /** Requests of one connection that may wait before no more of it are taken. */
  readonly maxPendingPerConnection: number;
  /** Bytes that may wait to be sent to one client. A client that reads so little is dropped. */
  readonly maxUnsentBytesPerConnection: number;
  /** The same for all clients together. The one that has not read for longest is dropped. */
  readonly maxUnsentBytes: number;
  /**
   * Bytes of requests that were read from all clients together and wait for their turn or for their client to read. Beyond,
   * a client that has more of them than an equal share is dropped.
   */
  readonly maxUnansweredBytes: number;
  /** How long bytes may wait to be sent to a client before it is dropped. */
  readonly unsentTimeoutMs: number;
}

const MIB = 2 ** 20;

export const DEFAULT_LIMITS: ServerLimits = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 1000,
  prefaceTimeoutMs: 5000,
  idleTimeoutMs: 600_000,
  maxPendingPerConnection: 4096,
  maxUnsentBytesPerConnection: MIB,
  maxUnsentBytes: 64 * MIB,
  maxUnansweredBytes: 64 * MIB,
  unsentTimeoutMs: 10_000,
};

/** Requests that all connections together have answered before timers and other sockets get their turn. */
export const MAX_REQUESTS_PER_TURN = 1024;

/** A connection that takes a turn may answer so many, however many others wait: a write for each request would cost more. */
export const LEAST_SHARE_OF_TURN = 64;

/** The limits with defaults filled in. Throws `InvariantViolation` for a limit that is not a whole number above 0. */
export function completeLimits(limits: Partial<ServerLimits>): ServerLimits {
  assertObject(limits, "the limits of a server");
  const complete: ServerLimits = { ...DEFAULT_LIMITS, ...limits };
  for (const [name, limit] of Object.entries(complete))
    assert(Number.isSafeInteger(limit) && limit > 0, `${name} is a whole number above 0`);
  return complete;
}
