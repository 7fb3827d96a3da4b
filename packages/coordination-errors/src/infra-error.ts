import { assert, Redacted } from "@gossip/stdx";

/**
 * The store failed, whatever was asked of it.
 *
 * - `Transient`  — it may work next time. A write may or may not have happened.
 * - `Corruption` — what is stored contradicts itself. Trying again changes nothing.
 */
export type InfraError = InfraErrorOf<"Transient"> | InfraErrorOf<"Corruption">;

export interface InfraErrorOf<Kind extends "Transient" | "Corruption"> {
  readonly kind: Kind;
  /** What the store was doing, as a dotted label: `acquire.loadShard`. */
  readonly operation: string;
  /** A sentence of ours. A driver's own text may quote rows, and belongs in `cause`. */
  readonly message: string;
  /** The driver's code for it, where it has one: a SQLSTATE, a gRPC status, an errno name. *Addition.* */
  readonly code: string | undefined;
  /** What the driver threw. It may quote anything, so nothing prints it and it stays in this process. *Addition.* */
  readonly cause: Redacted<unknown>;
}

/**
 * `Text` if it is a literal of the program, else `never`.
 *
 * A `string`, or a template with one inside, could carry the text of a driver with a user's row in it, into a printed
 * message. Numbers and unions of literals may be put in.
 */
export type FixedText<Text extends string, Rest extends string = Text> = string extends Rest
  ? never
  : Rest extends `${infer First}${infer After}`
    ? string extends First
      ? never
      : FixedText<Text, After>
    : Text;

export interface InfraErrorInput<Label extends string, Message extends string> {
  readonly operation: Label & FixedText<Label>;
  readonly message: Message & FixedText<Message>;
  /** As the driver has it. What does not look like a code is left out. */
  readonly code?: string | number | undefined;
  readonly cause?: unknown;
}

export const InfraError = {
  transient<const L extends string, const M extends string>(input: InfraErrorInput<L, M>): InfraErrorOf<"Transient"> {
    return makeInfraError("Transient", input);
  },

  corruption<const L extends string, const M extends string>(input: InfraErrorInput<L, M>): InfraErrorOf<"Corruption"> {
    return makeInfraError("Corruption", input);
  },

  isTransient(error: InfraError): error is InfraErrorOf<"Transient"> {
    assertInfraError(error);
    return error.kind === "Transient";
  },

  isCorruption(error: InfraError): error is InfraErrorOf<"Corruption"> {
    assertInfraError(error);
    return error.kind === "Corruption";
  },

  /** Class in brackets, label, sentence: `[transient] acquire.loadShard: the connection was lost`. */
  format(error: InfraError): string {
    assertInfraError(error);
    const code = error.code === undefined ? "" : ` (${error.code})`;
    return `[${error.kind.toLowerCase()}] ${error.operation}: ${error.message}${code}`;
  },
} as const;

const LABEL = /^[A-Za-z]\w{0,63}(\.\w{1,64}){0,3}$/;
// A SQLSTATE, a name in capitals, a small number.
const CODE = /^([A-Z0-9]{5}|[A-Z][A-Z0-9_]{1,39}|-?\d{1,6})$/;
const MAX_MESSAGE_LENGTH = 256;

/** Whether a value is such a dotted label. */
export function isInfraLabel(value: unknown): value is string {
  return typeof value === "string" && LABEL.test(value);
}

export function isInfraCode(value: unknown): value is string {
  return typeof value === "string" && CODE.test(value);
}

export function isInfraMessage(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_MESSAGE_LENGTH;
}

function assertInfraError(error: unknown): void {
  const kind = typeof error === "object" && error !== null && (error as { kind?: unknown }).kind;
  assert(
    kind === "Transient" || kind === "Corruption",
    "an infrastructure error must be of kind Transient or Corruption",
  );
}

/** Only a caller can prove that the texts are fixed, so their types say nothing here. */
function makeInfraError<K extends InfraError["kind"]>(
  kind: K,
  input: { readonly [F in keyof InfraErrorInput<never, never>]: unknown },
): InfraErrorOf<K> {
  assert(
    typeof input === "object" && input !== null,
    "an infrastructure error is made from an object with operation and message",
  );
  const { operation, message } = input;
  assert(isInfraLabel(operation), "operation must be a dotted label such as acquire.loadShard");
  assert(isInfraMessage(message), `message must be a sentence of at most ${MAX_MESSAGE_LENGTH} characters`);
  // Drop a malformed code instead of throwing: it came from a driver, and this code runs while a driver's failure is
  // being reported.
  const code = typeof input.code === "number" ? String(input.code) : input.code;
  return { kind, operation, message, code: isInfraCode(code) ? code : undefined, cause: new Redacted(input.cause) };
}
