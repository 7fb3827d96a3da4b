import { expectTypeOf } from "vitest";
import { err, matchError, ok, unwrap, type Result } from "./result.ts";

type Stale = { readonly kind: "Stale"; readonly current: number };
type Missing = { readonly kind: "Missing" };

declare const result: Result<string, Stale | Missing>;

// The value is there only once `ok` has been looked at.
// @ts-expect-error a failure has no value
expectTypeOf(result.value);
if (result.ok) expectTypeOf(result.value).toEqualTypeOf<string>();
else expectTypeOf(result.error).toEqualTypeOf<Stale | Missing>();

// A narrow failure fits a wider result, so that `return failed` propagates; a wider one does not fit.
expectTypeOf<Result<never, Missing>>().toExtend<Result<string, Stale | Missing>>();
expectTypeOf<Result<string, Stale | Missing>>().not.toExtend<Result<string, Missing>>();

expectTypeOf(err({ kind: "Missing" }).error.kind).toEqualTypeOf<"Missing">();
expectTypeOf(ok()).toExtend<Result<void, never>>();
expectTypeOf(unwrap(result)).toEqualTypeOf<string>();

declare const error: Stale | Missing;
expectTypeOf(matchError(error, { Stale: ({ current }) => current, Missing: () => "none" })).toEqualTypeOf<
  number | string
>();
// @ts-expect-error Missing has no handler
matchError(error, { Stale: () => 0 });
// @ts-expect-error Stale carries no `previous`
matchError(error, { Stale: (stale) => stale.previous, Missing: () => 0 });
// @ts-expect-error Expired is not a kind of this error
matchError(error, { Stale: () => 0, Missing: () => 0, Expired: () => 0 });
// A union of one, where a `never` default would not compile.
expectTypeOf(matchError({ kind: "Missing" } as Missing, { Missing: ({ kind }) => kind })).toEqualTypeOf<"Missing">();
expectTypeOf(matchError<Missing, string>({ kind: "Missing" }, { Missing: () => "none" })).toEqualTypeOf<string>();
// @ts-expect-error the handler does not give what is asked for
matchError<Missing, string>({ kind: "Missing" }, { Missing: () => 0 });
