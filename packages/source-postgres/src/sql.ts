import type { KeyColumn } from "./key-column.ts";

/** Quotes a name for SQL. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The table's alias in a query. An unqualified column name could refer to a selected column, which is text. */
export const ROWS = "row_of_table";

/** The key as the columns of a suitable index. */
export function indexColumns(columns: readonly KeyColumn[]): string {
  return columns.map(({ name, needsCollation }) => withCollation(quoteName(name), needsCollation)).join(", ");
}

/** The key as an `ORDER BY` list. */
export function orderOf(columns: readonly KeyColumn[]): string {
  return columns.map(keyExpression).join(", ");
}

/** A column of the key, compared by bytes. */
function keyExpression({ name, needsCollation }: KeyColumn): string {
  return withCollation(`${ROWS}.${quoteName(name)}`, needsCollation);
}

function withCollation(expression: string, needsCollation: boolean): string {
  return needsCollation ? `${expression} COLLATE "C"` : expression;
}

/** The parts of the key as text, so that no parser of the caller's pool can change them. */
export function keySelection(columns: readonly KeyColumn[]): string {
  return columns
    .map((column) =>
      column.kind === "bytes"
        ? `encode(${ROWS}.${quoteName(column.name)}, 'hex')`
        : `${ROWS}.${quoteName(column.name)}::text`,
    )
    .join(", ");
}

/** Compares the first columns of the key with as many values. */
export function keyCondition(columns: readonly KeyColumn[], operator: ">" | ">=", valueCount: number): string {
  const compared = columns.slice(0, valueCount);
  const values = compared.map((column, index) => placeholder(column, index + 1));
  return `(${compared.map(keyExpression).join(", ")}) ${operator} (${values.join(", ")})`;
}

function placeholder({ kind, sqlType, needsCollation }: KeyColumn, index: number): string {
  if (kind === "bytes") return `decode($${index}::text, 'hex')`;
  return withCollation(`$${index}::text::${sqlType}`, needsCollation);
}
