import { ERROR_ROUTES, type ErrorKind } from "@gossip/coordination-errors";
import type { TSchema } from "typebox";
import { ERROR_STATUS } from "../errors/status-of.ts";
import {
  OPERATION_NAMES,
  OPERATIONS,
  type BatchName,
  type OperationName,
  type OperationSpec,
} from "../table/operations.ts";
import { ErrorSchema } from "../schema/records.ts";
import { batchResponseSchema, batchSchema } from "../validate/validator.ts";

type Json = Readonly<Record<string, unknown>>;

/** The protocol as an OpenAPI 3.1 document. Committed as `openapi.json`; a test compares it. */
export function makeOpenApi(): Json {
  const named: Record<string, unknown> = {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const name of OPERATION_NAMES) {
    const { path, method } = OPERATIONS[name];
    (paths[path] ??= {})[method.toLowerCase()] = describeOperation(name, named);
  }
  const error = refer(ErrorSchema, named);
  return {
    openapi: "3.1.0",
    info: {
      title: "Gossip",
      version: "1",
      description: "Leases on ranges of keys, with fencing, progress and splits. See docs/reference/protocol.md.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "http://127.0.0.1:7711" }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      responses: {
        Error: {
          description: "The status gives the class of the error, the body the error itself.",
          content: { "application/json": { schema: { type: "object", required: ["error"], properties: { error } } } },
        },
      },
      schemas: Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

/** The kinds of coordination errors that an operation can return. */
export function errorKindsOf(name: OperationName): readonly ErrorKind[] {
  const { errors }: OperationSpec = OPERATIONS[name];
  return (Object.keys(ERROR_ROUTES) as ErrorKind[]).filter((kind) =>
    errors.some((operation) => ERROR_ROUTES[kind][operation] !== "no"),
  );
}

function describeOperation(name: OperationName, named: Record<string, unknown>): Json {
  const spec: OperationSpec = OPERATIONS[name];
  const body = spec.shape === "batch" ? batchSchema(name as BatchName) : spec.shape === "call" ? spec.body : undefined;
  const response = spec.shape === "batch" ? batchResponseSchema(name as BatchName) : spec.response;
  const query = spec.shape === "batch" ? undefined : spec.query;
  const errors = errorKindsOf(name);
  const parameters = [...pathParameters(spec.path), ...queryParameters(query, named)];
  return {
    operationId: name,
    summary: spec.summary,
    description: `Role: ${spec.role}.${errors.length === 0 ? "" : ` Errors: ${errors.map((kind) => `${kind} (${ERROR_STATUS[kind]})`).join(", ")}.`}`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: refer(body, named) } } } }),
    responses: {
      "200": {
        description: spec.shape === "stream" ? "Events, until either side closes the connection." : "Done.",
        content:
          spec.shape === "stream"
            ? { "text/event-stream": {}, "application/x-ndjson": {} }
            : { "application/json": { schema: refer(response, named) } },
      },
      default: { $ref: "#/components/responses/Error" },
    },
  };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", pattern: "^[0-9a-f]{16}$" },
  }));
}

function queryParameters(query: TSchema | undefined, named: Record<string, unknown>): Json[] {
  const { properties = {} } = (query ?? {}) as { readonly properties?: Readonly<Record<string, TSchema>> };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", schema: refer(schema, named) }));
}

/** A schema with its titled parts moved to `components`. */
function refer(schema: unknown, named: Record<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((part) => refer(part, named));
  if (typeof schema !== "object" || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, refer(part, named)]));
  const { title } = schema as { readonly title?: string };
  if (title === undefined) return parts;
  const { title: _title, ...rest } = parts;
  named[title] = rest;
  return { $ref: `#/components/schemas/${title}` };
}
