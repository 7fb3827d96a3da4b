import { OpId } from "@gossip/contracts";
import { assert, assertCount } from "@gossip/stdx";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Patience } from "./calls/patience.ts";
import type { TransportOptions } from "./http/transport.ts";

export interface GossipClientOptions extends Omit<TransportOptions, "maxSockets"> {
  /** Other nodes of the same cluster, to ask when the first one does not answer. */
  readonly otherUrls?: readonly string[];
  /** Connections to keep to each server. Default: 64. */
  readonly maxSockets?: number;
  /** How long a claim that finds nothing waits at the server for a shard. Default: one second. 0 does not wait. */
  readonly claimWaitMs?: number;
  /** How long a call may take in all, with its repetitions. Default: 30 seconds. */
  readonly patienceMs?: number;
  /** How long the server may be silent before a call is repeated. Default: 10 seconds. */
  readonly replyTimeoutMs?: number;
  /** Op ids for calls that the caller gives none for. Default: random. */
  readonly newOpId?: () => OpId;
  /** For pauses between tries. Default: `Math.random`. */
  readonly random?: () => number;
}

export interface ClientSettings extends TransportOptions, Patience {
  readonly otherUrls: readonly string[];
  readonly claimWaitMs: number;
  readonly newOpId: () => OpId;
}

export function makeSettings(options: GossipClientOptions): ClientSettings {
  assert(typeof options === "object" && options !== null, "client options must be an object");
  const {
    url,
    token,
    tls,
    otherUrls = [],
    maxSockets = 64,
    claimWaitMs = 1_000,
    patienceMs = 30_000,
    replyTimeoutMs = 10_000,
  } = options;
  assertCount(maxSockets, "maxSockets", { min: 1, max: 65_535 });
  assertCount(claimWaitMs, "claimWaitMs", { min: 0, max: 60_000 });
  assertCount(patienceMs, "patienceMs", { min: 0, max: 86_400_000 });
  assertCount(replyTimeoutMs, "replyTimeoutMs", { min: 1, max: 86_400_000 });
  return {
    url,
    token,
    tls,
    otherUrls,
    maxSockets,
    claimWaitMs,
    patienceMs,
    replyTimeoutMs,
    firstPauseMs: 20,
    maxPauseMs: 1_000,
    newOpId: options.newOpId ?? (() => OpId.random()),
    random: options.random ?? Math.random,
    nowMs: () => performance.now(),
    sleep: (ms) => sleep(ms),
  };
}
