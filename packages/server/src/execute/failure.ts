import type { ErrorWire } from "@gossip/protocol";

/** A failed element or call, as it is sent. */
export interface Failure {
  readonly error: ErrorWire;
  readonly status: number;
}

export function isFailure(value: unknown): value is Failure {
  return typeof value === "object" && value !== null && "error" in value && "status" in value;
}
