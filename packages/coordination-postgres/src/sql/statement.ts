import { createHash } from "node:crypto";

/** A statement that is not bound to a schema yet. */
export interface Statement {
  readonly name: string;
  /** The text for a schema, which is already quoted. */
  readonly text: (schema: string) => string;
}

/** A statement for the driver. A named one is parsed and planned once per connection. */
export interface BoundStatement {
  readonly name: string;
  readonly text: string;
}

const MAX_HASH_LENGTH = 10;

/**
 * Binds a statement to a schema.
 *
 * A connection may serve several schemas and several versions of this package. The name includes a hash of the text, so that one name is
 * always one statement.
 */
export function bindStatement({ name, text }: Statement, schema: string): BoundStatement {
  const bound = text(schema);
  const hash = createHash("sha256").update(bound).digest("hex").slice(0, MAX_HASH_LENGTH);
  return { name: `gossip_${name}_${hash}`, text: bound };
}
