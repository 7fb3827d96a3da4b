export { postgresTableSource, type PostgresTableSource } from "./postgres-table-source.ts";
export type { RowItem } from "./row-item.ts";
export type { PostgresTableOptions } from "./table-options.ts";
export { parseTableName, type TableName } from "./table-name.ts";
export { describeTableKey, sqlTextOf } from "./key-value.ts";
export type { KeyKind } from "./key-column.ts";
