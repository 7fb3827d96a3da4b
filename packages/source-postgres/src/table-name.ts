/** The name of a table, and of its schema, if given. */
export interface TableName {
  readonly schema?: string;
  readonly table: string;
}

/** The server's limit for names, in bytes. */
export const MAX_NAME_SIZE = 63;

const PART = String.raw`"((?:[^"]|"")+)"|([^".]+)`;
const NAME = new RegExp(`^(?:(?:${PART})\\.)?(?:${PART})$`, "u");

/**
 * Parses `orders`, `shop.orders`, `"My Table"` or `"my schema"."a.b"`: quoted as in SQL, where a quote is doubled. Unlike
 * SQL, it never folds a name to lower case. Returns `undefined` if the text is no such name.
 */
export function parseTableName(text: string): TableName | undefined {
  const match = NAME.exec(text);
  if (match === null) return undefined;
  const [, quotedSchema, plainSchema, quotedTable, plainTable] = match;
  const schema = quotedSchema?.replaceAll('""', '"') ?? plainSchema;
  const table = quotedTable?.replaceAll('""', '"') ?? plainTable!;
  if (!isName(table) || (schema !== undefined && !isName(schema))) return undefined;
  return schema === undefined ? { table } : { schema, table };
}

/** Whether the server can have something of that name. */
export function isName(name: string): boolean {
  return name.length > 0 && !name.includes("\0") && Buffer.byteLength(name) <= MAX_NAME_SIZE;
}
