/**
 * Describes a value for an error message.
 *
 * Prints numbers and booleans as they are, because the value of a wrong count helps to fix it. For
 * everything else it prints only the type, because the content may be a key.
 */
export function nameType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "object" ? nameObject(value) : `a ${typeof value}`;
}

const KIND_NAME = /^[A-Za-z]{1,40}$/;

/** The `kind` of an error, if it looks like one. A `kind` that was read from outside may hold any text. */
export function nameKind(error: unknown): string {
  if (typeof error !== "object" || error === null || !("kind" in error)) return "unknown";
  return typeof error.kind === "string" && KIND_NAME.test(error.kind) ? error.kind : "unknown";
}

// Never print the constructor's name or the string tag: the value chooses those itself, and they may hold user data.
function nameObject(value: object): string {
  if (Array.isArray(value)) return "an array";
  if (ArrayBuffer.isView(value)) return "a view of another element type";
  return value instanceof ArrayBuffer ? "an ArrayBuffer" : "an object";
}
