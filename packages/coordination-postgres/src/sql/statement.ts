import { createHash } from "node:crypto";

/** One statement, before it is known in which schema the tables are. */
export interface Statement {
  readonly name: string;
  /** Text with `schema` before every table, ready quoted. */
  readonly text: (schema: string) => string;
}

/** A statement as the driver takes it. One with a name is parsed and planned once a connection. */
export interface BoundStatement {
  readonly name: string;
  readonly text: string;
}

const MAX_HASH_LENGTH = 10;

/**
 * The statement for a schema.
 *
 * A connection may serve several schemas, and several versions of this package: its name has a hash of its text, so
 * that the same name is always the same statement.
 */
export function bindStatement({ name, text }: Statement, schema: string): BoundStatement {
  const bound = text(schema);
  const hash = createHash("sha256").update(bound).digest("hex").slice(0, MAX_HASH_LENGTH);
  return { name: `gossip_${name}_${hash}`, text: bound };
}
