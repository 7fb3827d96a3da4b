// What every process of the backfill opens for itself. They share the database and nothing else.
import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, systemClock, type RunRequest } from "@gossip/coordination";
import { openPostgresStore, postgresOpenErrorMessage } from "@gossip/coordination-postgres";
import { postgresTableSource, type RowItem } from "@gossip/source-postgres";
import type { Source } from "@gossip/worker";
import { Pool } from "pg";
import type { Customer } from "./write-email-key.ts";

export interface OpenJob {
  readonly pool: Pool;
  readonly coordinator: Coordinator;
  readonly run: RunRequest;
  readonly source: Source<RowItem<Customer>>;
}

/** How long a dead worker keeps its shard from the others. */
export const LEASE_MS = 5_000n;
/** Rows that are written in one statement. */
export const BATCH_SIZE = 500;
export const SLOW_BATCH_SIZE = 8;

/** One pool for everything: the rows that are read, those that are written, and the coordination, in the schema `gossip`. */
export async function openJob(url: string): Promise<OpenJob> {
  const pool = new Pool({ connectionString: url, max: 8 });
  // The pool replaces a connection that broke while it was idle; without a listener the process would end.
  pool.on("error", () => undefined);
  const opened = await openPostgresStore({ pool });
  if (!opened.ok) {
    await pool.end();
    throw new Error(`the database cannot be used: ${postgresOpenErrorMessage(opened.error)}`);
  }
  const coordinator = new Coordinator({
    store: opened.value,
    clock: systemClock(Date.now),
  });
  // The next backfill of this database takes another number.
  const run = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
  const source = postgresTableSource<Customer>({ pool, table: "customers", columns: ["shop", "id", "email"] });
  return { pool, coordinator, run, source };
}
