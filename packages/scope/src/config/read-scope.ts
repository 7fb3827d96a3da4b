import { err, isBytes, ok, type Result } from "@gossip/stdx";
import { MAX_ID_LENGTH, MAX_PREFIX_SIZE } from "../limits.ts";
import { Scope } from "../table/scope.ts";
import type { ScopeField, ScopeProblem } from "./scope-problem.ts";

export type ReadScope = Result<Scope, ScopeProblem[]>;

/** The position of an entry, and the known nodes, if there is a list of them. */
export interface EntryContext {
  readonly position: number;
  readonly peers: ReadonlySet<string> | undefined;
}

const FIELDS = ["prefix", "prefixHex", "writer", "fallback"];
const encoder = new TextEncoder();

/** One entry of a list. Reads each property once: a getter could return another value the second time. */
export function readScopeEntry(entry: unknown, context: EntryContext): ReadScope {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry))
    return err([{ kind: "NotAScope", position: context.position }]);
  const { prefix, prefixHex, writer, fallback } = entry as Record<string, unknown>;
  const problems: ScopeProblem[] = Object.keys(entry).every((key) => FIELDS.includes(key))
    ? []
    : [{ kind: "UnknownField", position: context.position }];
  const bytes = readPrefix(prefix, prefixHex);
  return assemble({ bytes, writer, fallback, context, problems });
}

/** One entry of the text form. */
export function readScopeText(token: string, context: EntryContext): ReadScope {
  const equals = token.indexOf("=");
  if (equals < 0) return err([{ kind: "NotAScope", position: context.position }]);
  const owners = token.slice(equals + 1);
  const bar = owners.indexOf("|");
  const writer = bar < 0 ? owners : owners.slice(0, bar);
  const fallback = bar < 0 ? undefined : owners.slice(bar + 1);
  return assemble({ bytes: encoder.encode(token.slice(0, equals)), writer, fallback, context, problems: [] });
}

interface Parts {
  readonly bytes: Uint8Array | "missing" | "wrong type";
  readonly writer: unknown;
  readonly fallback: unknown;
  readonly context: EntryContext;
  readonly problems: readonly ScopeProblem[];
}

function assemble({ bytes, writer, fallback, context, problems }: Parts): ReadScope {
  const found = [...problems, ...prefixProblems(bytes, context), ...nodeProblems(writer, "writer", context)];
  // A configuration language may write an absent value as null.
  const hasFallback = fallback !== undefined && fallback !== null;
  if (hasFallback) found.push(...nodeProblems(fallback, "fallback", context));
  if (found.length > 0 || typeof bytes === "string") return err(found);
  return ok(
    new Scope({ prefix: bytes, writer: writer as string, ...(hasFallback ? { fallback: fallback as string } : {}) }),
  );
}

function readPrefix(prefix: unknown, prefixHex: unknown): Parts["bytes"] {
  if (prefixHex === undefined) {
    if (prefix === undefined || prefix === null) return "missing";
    if (typeof prefix === "string") return encoder.encode(prefix);
    return isBytes(prefix) ? prefix : "wrong type";
  }
  if (prefix !== undefined || typeof prefixHex !== "string" || !/^([\da-f]{2})*$/i.test(prefixHex)) return "wrong type";
  return Uint8Array.from({ length: prefixHex.length / 2 }, (_, index) =>
    Number.parseInt(prefixHex.slice(2 * index, 2 * index + 2), 16),
  );
}

function prefixProblems(bytes: Parts["bytes"], { position }: EntryContext): ScopeProblem[] {
  const field: ScopeField = "prefix";
  if (bytes === "missing") return [{ kind: "MissingField", position, field }];
  if (bytes === "wrong type") return [{ kind: "WrongType", position, field }];
  if (bytes.length === 0) return [{ kind: "EmptyField", position, field }];
  return bytes.length > MAX_PREFIX_SIZE
    ? [{ kind: "TooLong", position, field, size: bytes.length, max: MAX_PREFIX_SIZE }]
    : [];
}

function nodeProblems(node: unknown, field: "writer" | "fallback", { position, peers }: EntryContext): ScopeProblem[] {
  if (node === undefined || node === null) return [{ kind: "MissingField", position, field }];
  if (typeof node !== "string") return [{ kind: "WrongType", position, field }];
  if (node === "") return [{ kind: "EmptyField", position, field }];
  if (node.length > MAX_ID_LENGTH) return [{ kind: "TooLong", position, field, size: node.length, max: MAX_ID_LENGTH }];
  return peers === undefined || peers.has(node) ? [] : [{ kind: "UnknownNode", position, field }];
}
