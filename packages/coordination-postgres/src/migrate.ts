import type { Pool, PoolClient } from "pg";
import { err, ok, type Result } from "@gossip/stdx";
import type { PostgresOpenError } from "./postgres-open-error.ts";
import { migration1 } from "./sql/migration-1.ts";
import { migration2 } from "./sql/migration-2.ts";
import { migration3 } from "./sql/migration-3.ts";
import {
  createMigrations,
  LOCK_MIGRATIONS,
  NOTE_MIGRATION,
  READ_LAST_MIGRATION,
  TABLE_EXISTS,
} from "./sql/migrations.ts";

/** Every step from nothing to the newest schema. A step that was released never changes. */
const MIGRATIONS: readonly ((schema: string) => string)[] = [migration1, migration2, migration3];

/** The number of the newest schema that this package knows. */
export const SCHEMA_VERSION = MIGRATIONS.length;

const ignore = (): void => undefined;

export interface MigrateOptions {
  /** As SQL has it. */
  readonly schema: string;
  /** Whether the tables may be changed. */
  readonly migrate: boolean;
}

/**
 * See to it that the tables are those of this version.
 *
 * Whoever finds them so changes nothing and needs no right to. Else one at a time, under a lock of the database: whoever
 * comes second waits, and finds it done. All of it is one transaction.
 */
export async function migrate(
  pool: Pool,
  { schema, migrate: mayChange }: MigrateOptions,
): Promise<Result<void, PostgresOpenError>> {
  const client = await pool.connect();
  // A connection that breaks says so to whoever waits for an answer, and with an event, which nobody may leave unheard.
  client.on("error", ignore);
  let isWhole = false;
  try {
    const checked = judge(await readVersion(client, schema), mayChange);
    if (checked !== "older") {
      isWhole = true;
      return checked;
    }
    await client.query("BEGIN");
    await client.query(LOCK_MIGRATIONS, [schema]);
    await client.query(createMigrations(schema));
    const found = await readVersion(client, schema);
    const result = judge(found, mayChange);
    if (result === "older") await applyFrom(client, schema, found);
    await client.query("COMMIT");
    isWhole = true;
    return result === "older" ? ok() : result;
  } finally {
    client.off("error", ignore);
    client.release(!isWhole);
  }
}

function judge(found: number, mayChange: boolean): Result<void, PostgresOpenError> | "older" {
  const supported = SCHEMA_VERSION;
  if (found > supported) return err({ kind: "NewerSchema", found, supported });
  if (found === supported) return ok();
  return mayChange ? "older" : err({ kind: "MigrationNeeded", found, supported });
}

async function applyFrom(client: PoolClient, schema: string, found: number): Promise<void> {
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < found) continue;
    await client.query(migration(schema));
    await client.query(NOTE_MIGRATION(schema), [index + 1]);
  }
}

/** The number of the last step that was made; 0 where there are no tables. */
async function readVersion(client: PoolClient, schema: string): Promise<number> {
  const { rows: tables } = await client.query<{ there: boolean }>(TABLE_EXISTS, [`${schema}.migrations`]);
  if (tables[0]?.there !== true) return 0;
  const { rows } = await client.query<{ version: number }>(READ_LAST_MIGRATION(schema));
  return rows[0]?.version ?? 0;
}
