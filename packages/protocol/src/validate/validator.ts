import { err, ok, type Result } from "@gossip/stdx";
import Type, { type Static, type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { WireFault } from "../codec/wire-reader.ts";
import { ErrorSchema } from "../schema/records.ts";
import { MAX_ELEMENTS } from "../schema/requests.ts";
import { OPERATIONS, type BatchName, type OperationName, type OperationSpec } from "../table/operations.ts";

/** The longest that a claim may wait at the server. */
export const MAX_WAIT_MS = 60_000;

/** Checks JSON against a schema. Compiled once. */
export interface Validator<T> {
  check(json: unknown): Result<T, WireFault>;
}

/** Compile a schema. A fault names the field, and never shows the value. */
export function makeValidator<S extends TSchema>(schema: S): Validator<Static<S>> {
  const compiled = Compile(schema);
  return {
    check: (json) => (compiled.Check(json) ? ok(json as Static<S>) : err(faultOf(compiled.Errors(excerptOf(json))))),
  };
}

/**
 * Check the elements one by one. Listing everything that is wrong with a thousand elements takes seconds; the first fault
 * is enough.
 */
function makeBatchValidator(name: BatchName): Validator<unknown> {
  const outer = makeValidator(batchSchema(name, Type.Unknown()));
  const element = makeValidator(OPERATIONS[name].element);
  return {
    check: (json) => {
      const shape = outer.check(json);
      if (!shape.ok) return shape;
      const { elements } = json as { readonly elements: readonly unknown[] };
      for (let index = 0; index < elements.length; index++) {
        const checked = element.check(elements[index]);
        if (checked.ok) continue;
        const { field, expected } = checked.error;
        return err({ field: `elements.${index}${field === "" ? "" : `.${field}`}`, expected });
      }
      return ok(json);
    },
  };
}

/** The body of a batched call. */
export function batchSchema(name: BatchName, element: TSchema = OPERATIONS[name].element): TSchema {
  const elements = Type.Array(element, { minItems: 1, maxItems: MAX_ELEMENTS });
  const waitMs = Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_WAIT_MS, description: "How long the claim may wait for a shard." }),
  );
  const isClaim: boolean = name === "claim";
  return Type.Object(isClaim ? { elements, waitMs } : { elements }, { additionalProperties: false });
}

/** The response of a batched call. */
export function batchResponseSchema(name: BatchName): TSchema {
  const { response } = OPERATIONS[name];
  const failed = Type.Object({ error: ErrorSchema, status: Type.Integer() });
  return Type.Object({ results: Type.Array(Type.Union([Type.Object({ ok: response }), failed])) });
}

interface OperationValidators {
  readonly body: Validator<unknown> | undefined;
  readonly query: Validator<unknown> | undefined;
}

const compiled = new Map<OperationName, OperationValidators>();

/** The validators of an operation, compiled at its first use. */
export function validatorsOf(name: OperationName): OperationValidators {
  let validators = compiled.get(name);
  if (validators === undefined) {
    const spec: OperationSpec = OPERATIONS[name];
    const query = spec.shape === "batch" ? undefined : spec.query;
    validators = {
      body: bodyValidator(name, spec),
      query: query === undefined ? undefined : makeValidator(query),
    };
    compiled.set(name, validators);
  }
  return validators;
}

function bodyValidator(name: OperationName, spec: OperationSpec): Validator<unknown> | undefined {
  if (spec.shape === "batch") return makeBatchValidator(name as BatchName);
  return spec.shape === "call" && spec.body !== undefined ? makeValidator(spec.body) : undefined;
}

/** More than any list of the protocol may have, so that a list that is too long is still too long in an excerpt. */
const EXCERPT_SIZE = 20_000;
/** Deeper than any request of the protocol. */
const EXCERPT_DEPTH = 32;

/**
 * The first values of a large body. Listing what is wrong with millions of values would keep every other client waiting
 * for seconds, and one fault is enough.
 */
function excerptOf(json: unknown): unknown {
  let left = EXCERPT_SIZE;
  const copy = (value: unknown, depth: number): unknown => {
    left--;
    if (typeof value !== "object" || value === null) return value;
    if (depth === EXCERPT_DEPTH) return null;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (let index = 0; index < value.length && left > 0; index++) items.push(copy(value[index], depth + 1));
      return items;
    }
    const fields: [string, unknown][] = [];
    for (const name in value) {
      if (left <= 0) break;
      fields.push([name, copy((value as Record<string, unknown>)[name], depth + 1)]);
    }
    return Object.fromEntries(fields);
  };
  return copy(json, 0);
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/** The first fault in words: unknown and missing fields by their own names. */
function faultOf(errors: readonly SchemaError[]): WireFault {
  const unknown = errors.find(({ keyword }) => keyword === "additionalProperties");
  if (unknown !== undefined) {
    const [name = ""] =
      (unknown.params as { readonly additionalProperties?: readonly string[] }).additionalProperties ?? [];
    return { field: joined(unknown.instancePath, name), expected: "no field of this name" };
  }
  const [first] = errors;
  if (first === undefined) return { field: "", expected: "another value" };
  // One of many unknown fields.
  if (first.keyword === "boolean") return { field: joined(first.instancePath, ""), expected: "no field of this name" };
  if (first.keyword === "required") {
    const [name = ""] = (first.params as { readonly requiredProperties?: readonly string[] }).requiredProperties ?? [];
    return { field: joined(first.instancePath, name), expected: "a value" };
  }
  return { field: joined(first.instancePath, ""), expected: first.message.replace(/^must /, "a value that must ") };
}

/** `/elements/0/lease` and `fence` are `elements.0.lease.fence`. Bounded, because the names are the caller's. */
function joined(path: string, name: string): string {
  const parts = path.split("/").slice(1);
  if (name !== "") parts.push(name);
  return parts.join(".").slice(0, 200);
}
