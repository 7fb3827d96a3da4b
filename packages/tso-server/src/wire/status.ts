import type { GetTsError } from "../oracle/get-ts-error.ts";

/** What a refusal means to a client, whatever the cause: what it should do next depends on nothing else. */
export type Status =
  | "NotLeader"
  | "InvalidArgument"
  | "OutOfRange"
  | "Internal"
  | "Unavailable"
  | "ResourceExhausted"
  /** The server accepts requests with a token only, and the client sent none that it knows. */
  | "Unauthenticated";

/** The status of every refusal. A new kind does not compile until it has one. */
export const STATUS_OF = {
  NotLeader: "NotLeader",
  InvalidCount: "InvalidArgument",
  PhysicalMsOutOfRange: "OutOfRange",
  WindowExhausted: "Internal",
  WindowExtensionOverflow: "Internal",
  TimeRunaway: "ResourceExhausted",
  Overloaded: "ResourceExhausted",
  TransientDriver: "Unavailable",
  PermanentDriver: "Internal",
  AdvanceOutOfRange: "Internal",
} as const satisfies Record<GetTsError["kind"], Status>;

/** The numbers on the wire. They are part of the protocol: never reuse one. */
export const STATUS_CODES = {
  NotLeader: 1,
  InvalidArgument: 2,
  OutOfRange: 3,
  Internal: 4,
  Unavailable: 5,
  ResourceExhausted: 6,
  Unauthenticated: 7,
} as const satisfies Record<Status, number>;

const BY_CODE = new Map<number, Status>(Object.entries(STATUS_CODES).map(([status, code]) => [code, status as Status]));

export function statusOfCode(code: number): Status | undefined {
  return BY_CODE.get(code);
}

/** A refusal as text for logs: its kind and the driver's reason. */
export function reasonOf(error: GetTsError): string {
  return "reason" in error ? `${error.kind}: ${error.reason}` : error.kind;
}
