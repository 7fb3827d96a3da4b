// A PostgreSQL of its own for the example, where you give it none.
import { Pool } from "pg";

/** A table as you may have one: two shops, and their customers. */
export const MAKE_CUSTOMERS = `
  CREATE TABLE customers (shop integer, id bigint, email text NOT NULL, PRIMARY KEY (shop, id));
  INSERT INTO customers SELECT n % 2, n, 'Customer' || n || '@Example.org' FROM generate_series(1, 2000) AS n`;

/** Start a server, make the table, use it, and remove both. */
export async function withDemoDatabase(use: (url: string) => Promise<number>): Promise<number> {
  const { startPostgres } = await import("@gossip/tools/engines");
  const server = await startPostgres();
  try {
    const pool = new Pool({ connectionString: server.url });
    await pool.query(MAKE_CUSTOMERS);
    await pool.end();
    return await use(server.url);
  } finally {
    await server.dispose();
  }
}
