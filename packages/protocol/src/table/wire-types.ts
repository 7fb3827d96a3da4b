import type { Static, TSchema } from "typebox";
import type { BatchName, CallName, OPERATIONS, OperationName } from "./operations.ts";

type Table = typeof OPERATIONS;

/** One element of a batched call, as JSON has it. */
export type ElementOf<Name extends BatchName> = Static<Table[Name]["element"]>;
/** The body of a call, as JSON has it. */
export type BodyOf<Name extends CallName> = Table[Name] extends { readonly body: infer Body extends TSchema }
  ? Static<Body>
  : undefined;
/** The query of a call: every value is text. */
export type QueryOf<Name extends OperationName> = Table[Name] extends { readonly query: infer Query extends TSchema }
  ? Static<Query>
  : Record<never, never>;
/** The response of a call, or the result of one element. */
export type ResponseOf<Name extends OperationName> = Static<Table[Name]["response"]>;

/** An error as it is sent: what `parseCoordError` reads, with the advice, or an error of the protocol itself. */
export interface ErrorWire {
  readonly kind: string;
  readonly message: string;
  readonly advice: string;
  /** How long to wait before the next try, if that is known. */
  readonly retryAfterMs?: number;
  readonly [field: string]: unknown;
}

/** The result of one element: its response, or an error with the status that a call of its own would have. */
export type ElementResult<Name extends BatchName = BatchName> =
  | { readonly ok: ResponseOf<Name> }
  | { readonly error: ErrorWire; readonly status: number };
