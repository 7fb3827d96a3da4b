import { assertObject } from "@gossip/stdx/internal";
import type { Scope } from "../table/scope.ts";

/** This node owns the key: proceed. */
export interface Owned {
  readonly kind: "Owned";
  /** The scope that covers the key. */
  readonly scope: Scope;
  /** The epoch of the snapshot; 0 from a table by itself, which has no history. */
  readonly epoch: number;
}

/** Another node owns the key: redirect the caller to it. */
export interface Misdirected {
  readonly kind: "Misdirected";
  readonly scope: Scope;
  readonly epoch: number;
  /** A node id, not an address. */
  readonly target: string;
}

/**
 * No scope covers the key.
 *
 * By convention, the node that receives it accepts it: scopes are opt-in.
 */
export interface Unknown {
  readonly kind: "Unknown";
}

/** The key's scope is moving, and no node accepts writes until the move is over. Retry shortly. */
export interface Quiesced {
  readonly kind: "Quiesced";
  /** A copy: routing never reads it. */
  readonly prefix: Uint8Array;
  readonly epoch: number;
  /** The node that the scope moves to. */
  readonly target: string;
  /** The address of the target, if the caller that started the move passed one. */
  readonly address: string | undefined;
}

/** The writer is down and no fallback is declared. The writer itself gets this verdict too. (An addition.) */
export interface Unavailable {
  readonly kind: "Unavailable";
  readonly scope: Scope;
  readonly epoch: number;
  readonly writer: string;
}

/** How a node should treat a key. None of these is an error. */
export type Routing = Owned | Misdirected | Unknown | Quiesced | Unavailable;

/** Why a key is not admitted. `Unknown` only if such keys are refused. */
export type Refusal = Exclude<Routing, Owned>;

/** Whether this node owns the key. False for `Unknown`: such a key has no owner. */
export function isLocalWriter(routing: Routing): routing is Owned {
  assertObject(routing, "routing");
  return routing.kind === "Owned";
}

export function isMisdirected(routing: Routing): routing is Misdirected {
  assertObject(routing, "routing");
  return routing.kind === "Misdirected";
}

/** The node to redirect to, if this is the wrong one. */
export function misdirectedTarget(routing: Routing): string | undefined {
  assertObject(routing, "routing");
  return routing.kind === "Misdirected" ? routing.target : undefined;
}

/** The prefix that the verdict applies to. A client may cache the verdict for all keys under it, until a higher epoch. */
export function matchedPrefix(routing: Routing): Uint8Array | undefined {
  assertObject(routing, "routing");
  if (routing.kind === "Unknown") return undefined;
  return routing.kind === "Quiesced" ? routing.prefix.slice() : routing.scope.prefix;
}

export const UNKNOWN: Unknown = Object.freeze({ kind: "Unknown" });
