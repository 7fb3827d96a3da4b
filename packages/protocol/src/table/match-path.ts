import { OPERATION_NAMES, OPERATIONS, type OperationName, type OperationSpec } from "./operations.ts";

/** What a path names: the operation of each method, and the values of `{run}` and `{shard}`. */
export interface MatchedPath {
  readonly byMethod: ReadonlyMap<string, OperationName>;
  readonly params: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly parts: readonly string[];
  readonly byMethod: Map<string, OperationName>;
}

const PATTERNS: readonly Pattern[] = /* @__PURE__ */ makePatterns();
const BY_TEXT: ReadonlyMap<string, Pattern> = /* @__PURE__ */ new Map(
  PATTERNS.filter(({ parts }) => !parts.some(isParameter)).map((pattern) => [pattern.parts.join("/"), pattern]),
);
const NO_PARAMS = {};

/** Find what a path names. `undefined` if the protocol has no such path. */
export function matchPath(path: string): MatchedPath | undefined {
  const fixed = BY_TEXT.get(path);
  if (fixed !== undefined) return { byMethod: fixed.byMethod, params: NO_PARAMS };
  const parts = path.split("/");
  for (const { parts: wanted, byMethod } of PATTERNS) {
    if (wanted.length !== parts.length) continue;
    if (wanted.every((part, index) => isParameter(part) || part === parts[index])) {
      return { byMethod, params: paramsOf(wanted, parts) };
    }
  }
  return undefined;
}

/** The path of an operation with its parameters filled in. */
export function pathOf(name: OperationName, params: Readonly<Record<string, string>> = NO_PARAMS): string {
  return OPERATIONS[name].path.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param]!);
}

function makePatterns(): Pattern[] {
  const patterns = new Map<string, Pattern>();
  for (const name of OPERATION_NAMES) {
    const { path, method }: OperationSpec = OPERATIONS[name];
    const pattern = patterns.get(path) ?? { parts: path.split("/"), byMethod: new Map() };
    pattern.byMethod.set(method, name);
    patterns.set(path, pattern);
  }
  return [...patterns.values()];
}

function isParameter(part: string): boolean {
  return part.startsWith("{");
}

function paramsOf(wanted: readonly string[], parts: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  wanted.forEach((part, index) => {
    if (isParameter(part)) params[part.slice(1, -1)] = parts[index]!;
  });
  return params;
}
