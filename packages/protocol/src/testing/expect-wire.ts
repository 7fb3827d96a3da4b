/** A server did not do what the protocol says. */
export class ConformanceFailure extends Error {
  override readonly name = "ConformanceFailure";
}

/** Fail unless `isTrue`. `what` says what the protocol demands. */
export function demand(isTrue: boolean, what: string): void {
  if (!isTrue) throw new ConformanceFailure(what);
}

/** Fail unless `actual` has everything that `expected` has. Arrays must have the same length. */
export function demandMatch(actual: unknown, expected: unknown, what: string): void {
  const wrong = firstDifference(actual, expected, "");
  if (wrong !== undefined) throw new ConformanceFailure(`${what}: ${wrong}`);
}

/** The first place in which `actual` lacks something of `expected`. */
function firstDifference(actual: unknown, expected: unknown, path: string): string | undefined {
  if (typeof expected !== "object" || expected === null) {
    if (Object.is(actual, expected)) return undefined;
    return `${path === "" ? "it" : path} must be ${JSON.stringify(expected)}, got ${shortened(actual)}`;
  }
  if (typeof actual !== "object" || actual === null)
    return `${path === "" ? "it" : path} must be an ${Array.isArray(expected) ? "array" : "object"}, got ${shortened(actual)}`;
  if (Array.isArray(expected) && (!Array.isArray(actual) || actual.length !== expected.length))
    return `${path === "" ? "it" : path} must have ${expected.length} elements, got ${shortened(actual)}`;
  for (const [name, value] of Object.entries(expected)) {
    const inner = (actual as Readonly<Record<string, unknown>>)[name];
    const wrong = firstDifference(inner, value, path === "" ? name : `${path}.${name}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
