import type { KeyColumn } from "./key-column.ts";
import { AFTER_ALL_TIMES, BEFORE_ALL_TIMES } from "./time-key.ts";

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

/** The parts of the key as text, so that no parser of the caller's pool and no setting of its sessions changes them. */
export function keySelection(columns: readonly KeyColumn[]): string {
  return columns.map((column) => selectedText(column, `${ROWS}.${quoteName(column.name)}`)).join(", ");
}

function selectedText({ kind, sqlType }: KeyColumn, value: string): string {
  switch (kind) {
    case "bytes":
      return `encode(${value}, 'hex')`;
    case "time":
      // Through an interval: the seconds since 1970 of very late times are not exact.
      return integerOr(
        value,
        `((extract(epoch FROM ${value} - ${sqlType} '2000-01-01 00:00:00+00') + ${SECONDS_TO_2000}) * 1000000)::numeric(30, 0)`,
      );
    case "date":
      return integerOr(value, `(${value} - date '1970-01-01')`);
    case "integer":
    case "text":
    case "uuid":
    case "boolean":
    case "numeric":
      return `${value}::text`;
  }
}

/** From 1970. */
const SECONDS_TO_2000 = 946_684_800;

/** The integer of a finite time, or that of an infinity. */
function integerOr(value: string, integer: string): string {
  return `CASE WHEN isfinite(${value}) THEN ${integer}::text WHEN ${value} > '2000-01-01' THEN '${AFTER_ALL_TIMES}' ELSE '${BEFORE_ALL_TIMES}' END`;
}

/** Compares the first columns of the key with as many values. */
export function keyCondition(columns: readonly KeyColumn[], operator: ">" | ">=", valueCount: number): string {
  const compared = columns.slice(0, valueCount);
  const values = compared.map((column, index) => placeholder(column, index + 1));
  return `(${compared.map(keyExpression).join(", ")}) ${operator} (${values.join(", ")})`;
}

/** A `WHERE` clause of these conditions. A condition may end with a comment. */
export function whereAll(conditions: readonly (string | undefined)[]): string {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 0 ? "" : `WHERE ${given.map((condition) => `(${condition}\n)`).join(" AND ")}`;
}

function placeholder({ kind, sqlType, needsCollation }: KeyColumn, index: number): string {
  if (kind === "bytes") return `decode($${index}::text, 'hex')`;
  return withCollation(`$${index}::text::${sqlType}`, needsCollation);
}
