import { assertObject } from "@gossip/stdx/internal";
import { formatOwnershipError, type OwnershipError } from "../table/ownership-error.ts";

export type ScopeField = "prefix" | "writer" | "fallback";

/** Something wrong with configured scopes. `position` is the index in the list, from 0. */
export type ScopeProblem =
  /** The input is neither a list nor text. */
  | { readonly kind: "NotAList" }
  | { readonly kind: "TooManyScopes"; readonly count: number; readonly max: number }
  /** Not an object, or in text not `prefix=writer`. */
  | { readonly kind: "NotAScope"; readonly position: number }
  /** Reading it threw: it is not plain data. */
  | { readonly kind: "Unreadable"; readonly position: number }
  | { readonly kind: "UnknownField"; readonly position: number }
  | { readonly kind: "MissingField"; readonly position: number; readonly field: ScopeField }
  | { readonly kind: "WrongType"; readonly position: number; readonly field: ScopeField }
  | { readonly kind: "EmptyField"; readonly position: number; readonly field: ScopeField }
  | {
      readonly kind: "TooLong";
      readonly position: number;
      readonly field: ScopeField;
      readonly size: number;
      readonly max: number;
    }
  /** The id is not one of the peers. */
  | { readonly kind: "UnknownNode"; readonly position: number; readonly field: "writer" | "fallback" }
  | OwnershipError;

/** Every problem in configured scopes: first those of single scopes, then conflicts between them. */
export interface InvalidScopes {
  readonly kind: "InvalidScopes";
  readonly problems: readonly ScopeProblem[];
}

/** Describes a problem for the operator. Positions count from 1. */
export function formatScopeProblem(problem: ScopeProblem): string {
  assertObject(problem, "a problem");
  switch (problem.kind) {
    case "NotAList":
      return "scopes must be a list of { prefix, writer, fallback } or text of the form prefix=writer|fallback, …";
    case "TooManyScopes":
      return `there are ${problem.count} scopes; at most ${problem.max} are allowed`;
    case "NotAScope":
      return `scope ${problem.position + 1} is neither { prefix, writer, fallback } nor prefix=writer|fallback`;
    case "Unreadable":
      return `scope ${problem.position + 1} cannot be read`;
    case "UnknownField":
      return `scope ${problem.position + 1} has a field that is none of prefix, prefixHex, writer and fallback`;
    case "MissingField":
      return `scope ${problem.position + 1} has no ${problem.field}`;
    case "WrongType":
      return `scope ${problem.position + 1}: ${problem.field} must be ${problem.field === "prefix" ? "text or bytes; prefixHex, if used instead, must be pairs of hex digits" : "text"}`;
    case "EmptyField":
      return `scope ${problem.position + 1}: ${problem.field} is empty`;
    case "TooLong":
      return `scope ${problem.position + 1}: ${problem.field} is ${problem.size} long; at most ${problem.max} is allowed`;
    case "UnknownNode":
      return `scope ${problem.position + 1}: ${problem.field} is not one of the peers`;
    case "DuplicatePrefix":
    case "OverlappingPrefix":
      return formatOwnershipError(problem);
  }
}
