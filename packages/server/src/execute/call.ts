import type { RunId, ShardId } from "@gossip/contracts";
import { WireReader, type BodyOf, type CallName, type QueryOf, type ResponseOf } from "@gossip/protocol";
import { isFailure, type ElementContext, type Failure } from "./element-context.ts";

/** A call as it was received. */
export interface Call<Name extends CallName> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryOf<Name>;
  readonly body: BodyOf<Name>;
}

export type Execute<Name extends CallName> = (
  context: ElementContext,
  call: Call<Name>,
) => Promise<{ readonly ok: ResponseOf<Name> } | Failure>;

const MAX_LIMIT = 10_000;

/** The run that a path names, under the tenant that the token may use. */
export function runOf(context: ElementContext, params: Readonly<Record<string, string>>, wanted: string | undefined) {
  const tenant = context.resolveTenant(wanted);
  if (isFailure(tenant)) return tenant;
  const run = idOf<RunId>(context, params, "run");
  return isFailure(run) ? run : { tenant, run };
}

export function keyOf(context: ElementContext, params: Readonly<Record<string, string>>, wanted: string | undefined) {
  const run = runOf(context, params, wanted);
  if (isFailure(run)) return run;
  const shard = idOf<ShardId>(context, params, "shard");
  return isFailure(shard) ? shard : { tenant: run.tenant, key: { run: run.run, shard } };
}

const ID = /^[0-9a-f]{16}$/;

export function idOf<Id extends bigint>(
  context: ElementContext,
  params: Readonly<Record<string, string>>,
  name: string,
): Id | Failure {
  const text = params[name] ?? "";
  return ID.test(text) ? new WireReader().id<Id>(text) : context.badField({ field: name, expected: "16 hex digits" });
}

export function limitOf(
  context: ElementContext,
  text: string | undefined,
  max = MAX_LIMIT,
): { readonly limit?: number } | Failure {
  if (text === undefined) return {};
  const limit = Number(text);
  if (limit >= 1 && limit <= max) return { limit };
  return context.badField({ field: "limit", expected: `a number from 1 to ${max}` });
}
