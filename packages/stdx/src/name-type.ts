/**
 * A value's type in words, for the message of a refusal.
 *
 * It tells numbers and booleans as they are, because a count that is wrong must
 * be seen to be mended. Of everything else it tells the type only: the content
 * may be somebody's key.
 */
export function nameType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "object" ? nameObject(value) : `a ${typeof value}`;
}

// Never the constructor's name or the string tag: a value chooses those itself, and they may be data.
function nameObject(value: object): string {
  if (Array.isArray(value)) return "an array";
  if (ArrayBuffer.isView(value)) return "a view of another element type";
  return value instanceof ArrayBuffer ? "an ArrayBuffer" : "an object";
}
