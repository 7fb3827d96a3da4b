import { err, isBytes, ok, type Result } from "@gossip/stdx";
import { MAX_ID_LENGTH, MAX_PREFIX_SIZE } from "../limits.ts";
import { Scope } from "../table/scope.ts";
import type { ScopeField, ScopeProblem } from "./scope-problem.ts";

/** The position of an entry, and the known nodes, if there is a list of them. */
export interface EntryContext {
  readonly position: number;
  readonly peers: ReadonlySet<string> | undefined;
}

type PrefixInput = Uint8Array | "missing" | "wrong type";

const FIELDS = ["prefix", "prefixHex", "writer", "fallback"];
const encoder = new TextEncoder();

/** An entry of the text form as one of a list; the text itself if it has no writer. */
export function entryOfText(token: string): unknown {
  const equals = token.indexOf("=");
  if (equals < 0) return token;
  const owners = token.slice(equals + 1);
  const bar = owners.indexOf("|");
  const prefix = token.slice(0, equals);
  return bar < 0
    ? { prefix, writer: owners }
    : { prefix, writer: owners.slice(0, bar), fallback: owners.slice(bar + 1) };
}

/** One entry of a list. Reads each property once: a getter could return another value the second time. */
export function readScopeEntry(entry: unknown, context: EntryContext): Result<Scope, ScopeProblem[]> {
  const { position } = context;
  if (typeof entry !== "object" || entry === null || Array.isArray(entry))
    return err([{ kind: "NotAScope", position }]);
  const { prefix, prefixHex, writer, fallback } = entry as Record<string, unknown>;
  const problems: ScopeProblem[] = [];
  if (!Object.keys(entry).every((key) => FIELDS.includes(key))) problems.push({ kind: "UnknownField", position });
  const bytes = readPrefix(prefix, prefixHex);
  problems.push(...prefixProblems(bytes, context), ...nodeProblems(writer, "writer", context));
  // A configuration language may write an absent value as null.
  const hasFallback = fallback !== undefined && fallback !== null;
  if (hasFallback) problems.push(...nodeProblems(fallback, "fallback", context));
  if (problems.length > 0 || typeof bytes === "string") return err(problems);
  return ok(
    new Scope({ prefix: bytes, writer: writer as string, fallback: hasFallback ? (fallback as string) : undefined }),
  );
}

function readPrefix(prefix: unknown, prefixHex: unknown): PrefixInput {
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

function prefixProblems(bytes: PrefixInput, { position }: EntryContext): ScopeProblem[] {
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
