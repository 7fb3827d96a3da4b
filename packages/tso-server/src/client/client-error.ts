import type { Status } from "../wire/status.ts";

/** Why a client has no timestamp to give. */
export type ClientError =
  /** A call asks for 1 to 262,144 timestamps. */
  | { readonly kind: "InvalidCount"; readonly count: number }
  /** A server refused for a reason of its own, and no other returned a more specific one. */
  | { readonly kind: "Rejected"; readonly status: Status; readonly reason: string }
  /** An election was on for as long as the call was allowed to take. */
  | { readonly kind: "NoLeader" }
  /** Servers kept pointing at one another. */
  | { readonly kind: "TooManyRedirects" }
  /** No server could be talked to; the last attempt failed so. */
  | { readonly kind: "Transport"; readonly reason: string }
  /** Time ran out before anything could be tried. */
  | { readonly kind: "NoReachableEndpoints" }
  /** A server returned something other than what was requested. */
  | { readonly kind: "Protocol"; readonly reason: string }
  /** Too many callers are waiting. */
  | { readonly kind: "Overloaded"; readonly maxWaiting: number }
  /** The client was closed. */
  | { readonly kind: "Closed" };
