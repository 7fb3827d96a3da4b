import { createHash } from "node:crypto";
import type { Pool } from "pg";

export interface Customer {
  readonly shop: number;
  /** A bigint, which the driver gives as text. */
  readonly id: string;
  readonly email: string;
}

/** The new column, and the fence of the worker that wrote it. */
export const ADD_COLUMNS =
  "ALTER TABLE customers ADD COLUMN IF NOT EXISTS email_key text, ADD COLUMN IF NOT EXISTS email_key_fence bigint";

const WRITE = `
  UPDATE customers SET email_key = new.email_key, email_key_fence = $4
  FROM unnest($1::integer[], $2::bigint[], $3::text[]) AS new (shop, id, email_key)
  WHERE customers.shop = new.shop AND customers.id = new.id AND (email_key_fence IS NULL OR email_key_fence < $4)`;

/** What the new column holds. Yours may ask a service, or a model: anything that SQL cannot do. */
export function emailKey(email: string): string {
  return createHash("sha256").update(email.trim().toLowerCase()).digest("hex").slice(0, 16);
}

/**
 * Write rows in one statement, except those that a worker with this fence or a newer one has written. Returns how many
 * were written.
 *
 * The coordinator refuses a worker that lost its shard, but only when that worker asks. One that was stopped for a minute may
 * wake up between two questions and write, as may a statement that was on its way when its process was killed. Then the
 * rows have a newer fence, and the statement changes nothing.
 */
export async function writeEmailKeys(pool: Pool, rows: readonly Customer[], fence: bigint): Promise<number> {
  const { rowCount } = await pool.query({
    name: "write-email-keys",
    text: WRITE,
    values: [rows.map(({ shop }) => shop), rows.map(({ id }) => id), rows.map(({ email }) => emailKey(email)), fence],
  });
  return rowCount ?? 0;
}
