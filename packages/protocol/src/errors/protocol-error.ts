import type { Advice } from "@gossip/coordination-errors";
import type { ErrorWire } from "../table/wire-types.ts";

interface ProtocolErrorTraits {
  readonly status: number;
  readonly advice: Advice;
  readonly when: string;
}

/** Errors of the protocol itself: the request never reached a coordinator. */
export const PROTOCOL_ERRORS = {
  BadRequest: { status: 400, advice: "FixCaller", when: "the request is malformed; `field` names the place" },
  Unauthenticated: {
    status: 401,
    advice: "FixCaller",
    when: "there is no token, or it is unknown, expired or revoked",
  },
  Forbidden: { status: 403, advice: "FixCaller", when: "the token lacks the role" },
  UnknownPath: { status: 404, advice: "FixCaller", when: "the protocol has no such path" },
  WrongMethod: { status: 405, advice: "FixCaller", when: "the path has other methods" },
  TooLarge: { status: 413, advice: "FixCaller", when: "the body or the number of elements is above the limit" },
  WrongMediaType: { status: 415, advice: "FixCaller", when: "the body is not `application/json`" },
  Misdirected: { status: 421, advice: "RetrySameOpId", when: "another node owns the run; `owner` is its address" },
  Unowned: {
    status: 421,
    advice: "Report",
    when: "no node of the cluster owns the run: the cluster file lacks a scope",
  },
  NotInCluster: { status: 409, advice: "FixCaller", when: "the node has no cluster file" },
  MoveRefused: { status: 409, advice: "FixCaller", when: "a scope cannot be moved so; the message has the reason" },
  TooManyRequests: { status: 429, advice: "RetrySameOpId", when: "the token is over its share" },
  InternalError: { status: 500, advice: "Report", when: "the server has a defect" },
  Overloaded: { status: 503, advice: "RetrySameOpId", when: "the node is over its capacity" },
  Draining: { status: 503, advice: "RetrySameOpId", when: "the node is about to stop" },
  Quiesced: { status: 503, advice: "RetrySameOpId", when: "the run is moving to another node" },
  Unavailable: { status: 503, advice: "RetrySameOpId", when: "the node that owns the run is down" },
  NoClock: { status: 503, advice: "RetrySameOpId", when: "the node cannot get the time" },
} as const satisfies Readonly<Record<string, ProtocolErrorTraits>>;

export type ProtocolErrorKind = keyof typeof PROTOCOL_ERRORS;

/** An error that the server returns before, or instead of, executing. */
export interface ProtocolError {
  readonly kind: ProtocolErrorKind;
  readonly message: string;
  /** Where in the request. */
  readonly field?: string;
  /** The node to ask instead. */
  readonly owner?: string;
  readonly retryAfterMs?: number;
}

export function protocolError(
  kind: ProtocolErrorKind,
  message: string,
  more: Omit<ProtocolError, "kind" | "message"> = {},
): ProtocolError {
  return { kind, message, ...more };
}

export function isProtocolErrorKind(kind: string): kind is ProtocolErrorKind {
  return Object.hasOwn(PROTOCOL_ERRORS, kind);
}

/** The JSON form of an error of the protocol. */
export function writeProtocolError({ kind, message, ...more }: ProtocolError): ErrorWire {
  return { kind, message, ...more, advice: PROTOCOL_ERRORS[kind].advice };
}
