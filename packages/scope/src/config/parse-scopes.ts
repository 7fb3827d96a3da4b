import { assert, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { MAX_SCOPES } from "../limits.ts";
import type { OwnershipError } from "../table/ownership-error.ts";
import { OwnershipTable, type OwnershipTableOptions } from "../table/ownership-table.ts";
import { entryOfText, readScopeEntry, type EntryContext } from "./read-scope.ts";
import type { Scope } from "../table/scope.ts";
import type { InvalidScopes, ScopeProblem } from "./scope-problem.ts";

export interface ParseScopesOptions extends OwnershipTableOptions {
  /** All nodes. If given, an id that is not in it is a problem: no node would ever write that scope. */
  readonly peers?: readonly string[] | undefined;
}

/**
 * Builds a table from a configuration, or returns every problem in it.
 *
 * Two forms are read: a list of `{ prefix, writer, fallback }`, where `prefixHex` may stand for a
 * prefix that is not text; and text of the form `prefix=writer|fallback, prefix=writer`, where the
 * first `=` ends the prefix and the first `|` the writer. A prefix must not be empty here: a scope
 * over everything is too easy to configure by accident.
 *
 * Accepts any value, and never throws because of its content.
 */
export function parseScopes(input: unknown, options: ParseScopesOptions = {}): Result<OwnershipTable, InvalidScopes> {
  assertObject(options, "options");
  const { peers } = options;
  assert(peers === undefined || Array.isArray(peers), "peers must be an array");
  const entries = listEntries(input);
  if (!entries.ok) return err({ kind: "InvalidScopes", problems: [entries.error] });

  const known = peers && new Set(peers);
  const problems: ScopeProblem[] = [];
  const scopes: Scope[] = [];
  const positions: number[] = [];
  for (let position = 0; position < entries.value.count; position++) {
    const result = readOne(entries.value, { peers: known, position });
    if (result.ok) {
      scopes.push(result.value);
      positions.push(position);
    } else {
      problems.push(...result.error);
    }
  }

  const table = OwnershipTable.build(scopes, options);
  // One by one: there may be more conflicts than `push` takes arguments.
  if (!table.ok) for (const conflict of table.error.conflicts) problems.push(inInput(conflict, positions));
  return table.ok && problems.length === 0 ? table : err({ kind: "InvalidScopes", problems });
}

/** How many entries there are, and how to get one, which may throw. */
interface EntryList {
  readonly count: number;
  readonly at: (position: number) => unknown;
}

function listEntries(input: unknown): Result<EntryList, ScopeProblem> {
  try {
    const list: unknown = typeof input === "string" ? splitText(input) : input;
    if (!Array.isArray(list)) return err({ kind: "NotAList" });
    const { length: count } = list;
    if (count > MAX_SCOPES) return err({ kind: "TooManyScopes", count, max: MAX_SCOPES });
    return ok({ count, at: (position) => list[position] as unknown });
  } catch {
    // For example a revoked proxy.
    return err({ kind: "NotAList" });
  }
}

function splitText(text: string): unknown[] {
  const tokens = text.split(",").map((token) => token.trim());
  return tokens.filter((token) => token !== "").map(entryOfText);
}

function readOne(entries: EntryList, context: EntryContext): Result<Scope, ScopeProblem[]> {
  try {
    return readScopeEntry(entries.at(context.position), context);
  } catch {
    return err([{ kind: "Unreadable", position: context.position }]);
  }
}

/** A conflict with the positions of the configuration. The table has only the readable entries. */
function inInput(conflict: OwnershipError, positions: readonly number[]): OwnershipError {
  const inConfiguration = (position: number): number => positions[position]!;
  return conflict.kind === "DuplicatePrefix"
    ? { ...conflict, positions: conflict.positions.map(inConfiguration) }
    : {
        ...conflict,
        innerPosition: inConfiguration(conflict.innerPosition),
        outerPosition: inConfiguration(conflict.outerPosition),
      };
}
