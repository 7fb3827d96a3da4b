import type { KeyColumn } from "./key-column.ts";

/** A name as SQL has it, whatever is in it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A column of the key, compared by bytes. */
export function keyExpression({ name, needsCollation }: KeyColumn): string {
  return needsCollation ? `${quoteName(name)} COLLATE "C"` : quoteName(name);
}

export function orderOf(columns: readonly KeyColumn[]): string {
  return columns.map(keyExpression).join(", ");
}

/** The parts of the key as text, so that no parser of the caller's pool can change them. */
export function keySelection(columns: readonly KeyColumn[]): string {
  return columns.map((column) => (column.kind === "bytes" ? `encode(${quoteName(column.name)}, 'hex')` : `${quoteName(column.name)}::text`)).join(", ");
}

/** The first columns of the key against as many values. */
export function keyCondition(columns: readonly KeyColumn[], operator: ">" | ">=", valueCount: number): string {
  const compared = columns.slice(0, valueCount);
  const values = compared.map((column, index) => placeholder(column, index + 1));
  return `(${compared.map(keyExpression).join(", ")}) ${operator} (${values.join(", ")})`;
}

function placeholder({ kind, sqlType, needsCollation }: KeyColumn, index: number): string {
  if (kind === "bytes") return `decode($${index}::text, 'hex')`;
  return needsCollation ? `$${index}::text::${sqlType} COLLATE "C"` : `$${index}::text::${sqlType}`;
}
