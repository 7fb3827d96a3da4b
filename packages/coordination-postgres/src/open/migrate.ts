import type { PoolClient } from "pg";
import { err, ok, type Result } from "@gossip/stdx";
import { codeOf } from "../database/postgres-failure.ts";
import type { PostgresOpenError } from "./postgres-open-error.ts";
import { countOtherVersions } from "../sql/connected-versions.ts";
import { migration1 } from "../sql/migration-1.ts";
import { migration2 } from "../sql/migration-2.ts";
import { migration3 } from "../sql/migration-3.ts";
import { migration4 } from "../sql/migration-4.ts";
import { migration5 } from "../sql/migration-5.ts";
import { migration6 } from "../sql/migration-6.ts";
import {
  createMigrations,
  HAS_RUNS,
  LOCK_MIGRATIONS,
  NOTE_MIGRATION,
  READ_LAST_MIGRATION,
  TABLE_EXISTS,
} from "../sql/migrations.ts";

/** Every step from nothing to the newest tables. A released step never changes. */
const MIGRATIONS: readonly ((schema: string) => string)[] = [
  migration1,
  migration2,
  migration3,
  migration4,
  migration5,
  migration6,
];

/** The number of the newest tables that this version knows. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The number of the oldest tables that this version can use as they are. */
export const OLDEST_USABLE = 3;

/**
 * When tables may be changed.
 *
 * - `Never`
 * - `WhenUnused` — where they are missing or hold no run, or where no session of another version is connected.
 * - `Always`     — an operator asked for it.
 */
export type MigratePermission = "Never" | "WhenUnused" | "Always";

export interface MigrateOptions {
  /** As SQL quotes it. */
  readonly schema: string;
  readonly permission: MigratePermission;
}

/** The result of a migration. */
export interface Migrated {
  /** Their number before, 0 where there were none, and now. */
  readonly from: number;
  readonly to: number;
  /** Other sessions of the database that do not show a version that knows the newest tables; 0 where nothing was to be done. */
  readonly otherSessions: number;
}

/**
 * Makes the tables those of this version, or finds that they can be used as they are.
 *
 * Current tables are left alone, and no right to change them is needed. Otherwise it runs in one transaction, under a lock of the database: of several
 * processes one migrates, and the others then find it done.
 */
export async function migrate(
  client: PoolClient,
  { schema, permission }: MigrateOptions,
): Promise<Result<Migrated, PostgresOpenError>> {
  const before = await readVersion(client, schema);
  if (before >= SCHEMA_VERSION || permission === "Never") return leave(before, 0);
  await client.query("BEGIN");
  await client.query(LOCK_MIGRATIONS, [schema]);
  const found = await readVersion(client, schema);
  const otherSessions = found >= SCHEMA_VERSION ? 0 : await countOthers(client, schema);
  const mayChange = permission === "Always" || otherSessions === 0 || !(await hasRuns(client, schema, found));
  try {
    if (found < SCHEMA_VERSION && mayChange) {
      await client.query(createMigrations(schema));
      await applyFrom(client, schema, found);
      await client.query("COMMIT");
      return ok({ from: found, to: SCHEMA_VERSION, otherSessions });
    }
  } catch (thrown) {
    // A login that may use the tables and not change them uses them as they are.
    if (permission === "Always" || found < OLDEST_USABLE || codeOf(thrown) !== "42501") throw thrown;
  }
  await client.query("ROLLBACK");
  return leave(found, otherSessions);
}

/** Uses tables as they are, where that is possible. */
function leave(found: number, otherSessions: number): Result<Migrated, PostgresOpenError> {
  const supported = SCHEMA_VERSION;
  if (found > supported) return err({ kind: "NewerSchema", found, supported });
  if (found < OLDEST_USABLE)
    return err(
      otherSessions === 0
        ? { kind: "MigrationNeeded", found, supported }
        : { kind: "MigrationUnsafe", found, supported, otherSessions },
    );
  return ok({ from: found, to: found, otherSessions });
}

async function applyFrom(client: PoolClient, schema: string, found: number): Promise<void> {
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < found) continue;
    await client.query(migration(schema));
    await client.query(NOTE_MIGRATION(schema), [index + 1]);
  }
}

async function countOthers(client: PoolClient, schema: string): Promise<number> {
  const { rows } = await client.query<{ others: number }>(countOtherVersions(schema, SCHEMA_VERSION));
  return rows[0]?.others ?? 0;
}

async function hasRuns(client: PoolClient, schema: string, found: number): Promise<boolean> {
  if (found === 0) return false;
  const { rows } = await client.query<{ has_runs: boolean }>(HAS_RUNS(schema));
  return rows[0]?.has_runs === true;
}

/** The number of the last step that was applied; 0 where there are no tables. */
async function readVersion(client: PoolClient, schema: string): Promise<number> {
  const { rows: tables } = await client.query<{ there: boolean }>(TABLE_EXISTS, [schema, "migrations"]);
  if (tables[0]?.there !== true) return 0;
  const { rows } = await client.query<{ version: number }>(READ_LAST_MIGRATION(schema));
  return rows[0]?.version ?? 0;
}
