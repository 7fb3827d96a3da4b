import type { FailureClass, RetryAfterScope } from "@gossip/worker";

/** What a process asks for in its first line. */
export interface Hello {
  readonly kind: "Hello";
  /** How many items to send at once. 1 if it did not ask for batches. */
  readonly batch: number;
  /** How many items or batches it works on at the same time. `undefined` if it did not say. */
  readonly concurrency: number | undefined;
}

/** Why an item failed, in the words of the process. */
export interface WorkerError {
  readonly message: string;
  /** `undefined` if the process did not say. */
  readonly failureClass: FailureClass | undefined;
  readonly retryAfterMs: number | undefined;
  /** What has to wait: the item, or the whole run. */
  readonly retryAfterScope: RetryAfterScope;
}

/** A line that a process wrote to stdout. */
export type WorkerLine =
  | Hello
  | { readonly kind: "Result"; readonly id: number; readonly value: unknown }
  | { readonly kind: "Error"; readonly id: number; readonly error: WorkerError }
  /** It has an id, but neither a result nor an error. */
  | { readonly kind: "NoResult"; readonly id: number }
  | { readonly kind: "Log"; readonly text: string };

const MAX_ASKED = 10_000;

const CLASSES: Readonly<Record<string, FailureClass>> = {
  item: "Item",
  dependency: "Dependency",
  permanent: "Permanent",
};

/** Read a line. Only the first line of a process can ask for something. Everything that is no answer is a log line. */
export function readWorkerLine(text: string, isFirst: boolean): WorkerLine {
  const log = { kind: "Log", text } as const;
  // Saves the parser an exception for every line of an ordinary log.
  if (!text.startsWith("{")) return log;
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return log;
  }
  const id = readId(fields["id"]);
  if (id === undefined) return (isFirst ? readHello(fields) : undefined) ?? log;
  const { error } = fields;
  if (error !== undefined && error !== null) return { kind: "Error", id, error: readError(error) };
  return "result" in fields ? { kind: "Result", id, value: fields["result"] } : { kind: "NoResult", id };
}

/** The id as it was sent, or as text: a shell may put it between quotes. */
function readId(id: unknown): number | undefined {
  if (typeof id === "number") return id;
  return typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

function readHello({ batch, concurrency }: Readonly<Record<string, unknown>>): Hello | undefined {
  if (batch === undefined && concurrency === undefined) return undefined;
  if (!isAsked(batch) || !isAsked(concurrency)) return undefined;
  return { kind: "Hello", batch: batch ?? 1, concurrency };
}

function isAsked(value: unknown): value is number | undefined {
  return value === undefined || (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_ASKED);
}

/** An error is a text, or an object with a `message`, a `class`, the seconds of `retryAfter` and what they are for. */
function readError(error: unknown): WorkerError {
  if (typeof error !== "object" || error === null)
    return { message: String(error), failureClass: undefined, retryAfterMs: undefined, retryAfterScope: "item" };
  const { message, class: name, retryAfter, scope } = error as Readonly<Record<string, unknown>>;
  const isWait = typeof retryAfter === "number" && Number.isFinite(retryAfter) && retryAfter >= 0;
  return {
    message: typeof message === "string" ? message : JSON.stringify(error),
    failureClass: typeof name === "string" && Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined,
    retryAfterMs: isWait ? retryAfter * 1000 : undefined,
    retryAfterScope: isWait && scope === "run" ? "run" : "item",
  };
}
