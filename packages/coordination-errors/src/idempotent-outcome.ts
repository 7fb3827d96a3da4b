import { assert } from "@gossip/stdx";

/**
 * What an idempotent operation returns: the result, and whether it was done just now or long ago.
 *
 * A plain object, so that it survives `structuredClone` and a worker boundary.
 */
export type IdempotentOutcome<T> = Executed<T> | Replayed<T>;

/** Done now, for the first time. */
export interface Executed<T> {
  readonly kind: "Executed";
  readonly value: T;
}

/** Done before with the same op id. Nothing changed; the result is the first one. */
export interface Replayed<T> {
  readonly kind: "Replayed";
  readonly value: T;
}

/** Shared by every outcome that carries nothing: such an outcome allocates nothing. */
const EXECUTED_VOID: Executed<void> = /* @__PURE__ */ Object.freeze({ kind: "Executed", value: undefined });
const REPLAYED_VOID: Replayed<void> = /* @__PURE__ */ Object.freeze({ kind: "Replayed", value: undefined });

function executed(): Executed<void>;
function executed<T>(value: T): Executed<T>;
function executed<T>(value?: T): Executed<T | void> {
  return value === undefined ? EXECUTED_VOID : { kind: "Executed", value };
}

function replayed(): Replayed<void>;
function replayed<T>(value: T): Replayed<T>;
function replayed<T>(value?: T): Replayed<T | void> {
  return value === undefined ? REPLAYED_VOID : { kind: "Replayed", value };
}

export const IdempotentOutcome = {
  executed,
  replayed,

  isExecuted<T>(outcome: IdempotentOutcome<T>): outcome is Executed<T> {
    assertOutcome(outcome);
    return outcome.kind === "Executed";
  },

  isReplay<T>(outcome: IdempotentOutcome<T>): outcome is Replayed<T> {
    assertOutcome(outcome);
    return outcome.kind === "Replayed";
  },

  /** Change the value; whether it was a replay stays. */
  map<T, U>(outcome: IdempotentOutcome<T>, change: (value: T) => U): IdempotentOutcome<U> {
    assertOutcome(outcome);
    assert(typeof change === "function", "what changes an outcome's value must be a function");
    return { kind: outcome.kind, value: change(outcome.value) };
  },

  /** The value alone, for a caller to whom a replay is as good. */
  intoInner<T>(outcome: IdempotentOutcome<T>): T {
    assertOutcome(outcome);
    return outcome.value;
  },
} as const;

function assertOutcome(outcome: unknown): void {
  const kind = typeof outcome === "object" && outcome !== null && (outcome as { kind?: unknown }).kind;
  assert(kind === "Executed" || kind === "Replayed", "an outcome must be of kind Executed or Replayed");
}
