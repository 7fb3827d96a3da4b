// Every process opens a store once, often many at the same time, with whatever a deployment has put into its settings. Tables that are made
// twice, a connection attempt that never ends, or a password in a log line are what goes wrong there.

import { measureClockSkew } from "@gossip/coordination/internal";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { inspect } from "node:util";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { freePort } from "@gossip/tools/engines";
import { CuttingProxy } from "@gossip/tools/store-proof";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applicationName, ConnectTimeout, connectWithin } from "./connect.ts";
import { SCHEMA_VERSION } from "./migrate.ts";
import { openPostgresStore, type PostgresStoreOptions } from "./open-postgres-store.ts";
import { migration1 } from "../sql/migration-1.ts";
import { createMigrations } from "../sql/migrations.ts";
import { newSchema, startFastPostgres, type TestServer } from "../temporary-database.fixture.ts";
import { VERSION } from "./version.ts";

const SECRET = "open-sesame-42";

let server: TestServer;
let pool: Pool;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 2 });
});

afterAll(async () => {
  await pool?.end();
  await server?.dispose();
});

const urlWith = (change: (url: URL) => void): string => {
  const url = new URL(server.url);
  change(url);
  return url.href;
};

describe("openPostgresStore", () => {
  // The first of them: no socket of another test is still about to go.
  test("an idle store that is never closed does not keep its process alive", async () => {
    const socketsInUse = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
    await pool.query("SELECT 1");
    const before = socketsInUse();
    const store = unwrap(await openPostgresStore({ url: server.url, schema: newSchema() }));
    unwrap(await store.listTenants({ after: undefined, limit: 1 }));
    expect(socketsInUse()).toBeLessThanOrEqual(before);
    await store.close();
  });

  test("many that open the same empty database at once all succeed, and the tables are made once", async () => {
    const schema = newSchema();
    const opened = await Promise.all(
      Array.from({ length: 6 }, () => openPostgresStore({ url: server.url, schema, maxConnections: 2 })),
    );
    expect(opened.map(({ ok }) => ok)).toEqual(opened.map(() => true));
    const { rows } = await pool.query(`SELECT version FROM ${schema}.migrations ORDER BY version`);
    expect(rows).toEqual(Array.from({ length: SCHEMA_VERSION }, (_, index) => ({ version: index + 1 })));
    for (const store of opened) await unwrap(store).close();
  });

  test.each(["pg_advisory_xact_lock", "CREATE TABLE", "COMMIT"])(
    "a connection that is cut at %s is a failure to open and nothing worse, and the next try succeeds",
    async (text) => {
      const schema = newSchema();
      const proxy = await CuttingProxy.before(server.url);
      const sprung = proxy.cut("Before", text);
      const [opened] = await Promise.all([openPostgresStore({ url: proxy.url, schema }), sprung]);
      expect(opened).toMatchObject({ ok: false, error: { kind: "Unavailable" } });
      await unwrap(await openPostgresStore({ url: proxy.url, schema })).close();
      await proxy.close();
    },
  );

  test("tables of a later version are refused and left as they are", async () => {
    const schema = newSchema();
    await unwrap(await openPostgresStore({ pool, schema })).close();
    await pool.query(`INSERT INTO ${schema}.migrations (version) VALUES (${SCHEMA_VERSION + 1})`);
    expect(await openPostgresStore({ pool, schema })).toEqual({
      ok: false,
      error: { kind: "NewerSchema", found: SCHEMA_VERSION + 1, supported: SCHEMA_VERSION },
    });
  });

  test("tables of the first version are brought up to date, and refused where that was not asked for", async () => {
    const schema = newSchema();
    await pool.query(
      `${createMigrations(schema)}; ${migration1(schema)}; INSERT INTO ${schema}.migrations (version) VALUES (1)`,
    );
    expect(await openPostgresStore({ pool, schema, migrate: false })).toEqual({
      ok: false,
      error: { kind: "MigrationNeeded", found: 1, supported: SCHEMA_VERSION },
    });
    await unwrap(await openPostgresStore({ pool, schema })).close();
    const made = newSchema();
    await unwrap(await openPostgresStore({ pool, schema: made })).close();
    const indexes = async (of: string) =>
      (
        await pool.query("SELECT replace(indexdef, $1, '') AS index FROM pg_indexes WHERE schemaname = $1 ORDER BY 1", [
          of,
        ])
      ).rows;
    expect(await indexes(schema)).toEqual(await indexes(made));
  });

  test("tables are not made where that was not asked for", async () => {
    const schema = newSchema();
    expect(await openPostgresStore({ pool, schema, migrate: false })).toMatchObject({
      ok: false,
      error: { kind: "MigrationNeeded", found: 0 },
    });
    const { rows } = await pool.query("SELECT FROM pg_namespace WHERE nspname = $1", [schema]);
    expect(rows.length).toBe(0);
  });

  test("a login without rights can use existing tables, and gets NotPermitted where it may not create them", async () => {
    const schema = newSchema();
    await pool.query(`CREATE ROLE modest LOGIN PASSWORD '${SECRET}'`);
    const url = urlWith((it) => ((it.username = "modest"), (it.password = SECRET)));
    expect(await openPostgresStore({ url, schema })).toMatchObject({
      ok: false,
      error: { kind: "NotPermitted", code: "42501" },
    });
    await unwrap(await openPostgresStore({ pool, schema })).close();
    await pool.query(
      `GRANT USAGE ON SCHEMA ${schema} TO modest; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO modest`,
    );
    const store = unwrap(await openPostgresStore({ url, schema }));
    expect(unwrap(await store.listTenants({ after: undefined, limit: 1 }))).toEqual({ items: [], next: undefined });
    await store.close();
  });

  test("each cause has its own error, and no error contains a secret", async () => {
    const deadPort = await freePort();
    const cases: [string, string][] = [
      ["InvalidUrl", `mysql://gossip:${SECRET}@localhost/x`],
      ["InvalidUrl", `gossip:${SECRET}`],
      ["InvalidUrl", ""],
      ["InvalidUrl", urlWith((url) => (url.searchParams.set("port", "x"), (url.password = SECRET)))],
      ["InvalidUrl", urlWith((url) => (url.searchParams.set("sslcert", `/nowhere/${SECRET}`), url))],
      ["Unreachable", `postgres://gossip:${SECRET}@%2Fnowhere/postgres`],
      ["AccessDenied", urlWith((url) => (url.password = SECRET))],
      ["MissingDatabase", urlWith((url) => (url.pathname = "/nowhere"))],
      ["Unreachable", urlWith((url) => ((url.port = String(deadPort)), (url.password = SECRET)))],
      ["Unreachable", `postgres://gossip:${SECRET}@host.invalid/postgres`],
    ];
    for (const [kind, url] of cases) {
      const opened = await openPostgresStore({ url });
      expect(opened.ok ? "opened" : opened.error.kind).toBe(kind);
      const shown = `${inspect(opened, { depth: 9, showHidden: true })} ${JSON.stringify(opened)}`;
      expect(shown).not.toContain(SECRET);
      expect(shown).not.toContain(server.url);
    }
  });

  test.each(["", "?sslmode=verify-full", "?sslnegotiation=direct"])(
    "a server that accepts and never replies is unreachable after the connect timeout%s",
    async (query) => {
      const silent = createServer((socket) => void socket.on("error", () => undefined));
      await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
      const { port } = silent.address() as AddressInfo;
      const url = `postgres://gossip:${SECRET}@127.0.0.1:${port}/x${query}`;
      const opened = await openPostgresStore({ url, connectTimeoutMs: 100 });
      expect(opened).toMatchObject({ ok: false, error: { kind: "Unreachable" } });
      silent.close();
    },
  );

  test("a driver that never answers is given up, and its late connection closed", async () => {
    const released: unknown[] = [];
    let connect: (client: unknown) => void = () => undefined;
    const stuck = { connect: () => new Promise((settle) => (connect = settle)) } as unknown as Pool;
    await expect(connectWithin(stuck, 1)).rejects.toThrow(ConnectTimeout);
    connect({ release: (isBroken: unknown) => released.push(isBroken) });
    await Promise.resolve();
    await Promise.resolve();
    expect(released).toEqual([true]);
  });

  test("the server shows which version of which process is connected, unless the URL has a name of its own", async () => {
    const names = async (schema: string) =>
      (
        await pool.query<{ name: string }>(
          "SELECT application_name AS name FROM pg_stat_activity WHERE query LIKE '%' || $1 || '%' AND pid <> pg_backend_pid()",
          [schema],
        )
      ).rows.map(({ name }) => name);
    for (const { query, name } of [
      { query: "", name: applicationName(SCHEMA_VERSION) },
      { query: "backfill", name: "backfill" },
    ]) {
      const schema = newSchema();
      const url = urlWith((it) => query !== "" && it.searchParams.set("application_name", query));
      const store = unwrap(await openPostgresStore({ url, schema }));
      unwrap(await store.listTenants({ after: undefined, limit: 1 }));
      expect(await names(schema)).toEqual([name]);
      await store.close();
    }
  });

  test("the version in the name is the package's", () => {
    const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    expect((JSON.parse(manifest) as { version: string }).version).toBe(VERSION);
  });

  test.each([
    undefined,
    {},
    { url: "postgres://x/y", pool: {} },
    { url: 7 },
    { pool: {} },
    { url: "postgres://x/y", schema: 'x"; DROP TABLE runs; --' },
    { url: "postgres://x/y", schema: "Upper" },
    { url: "postgres://x/y", maxConnections: 0 },
    { url: "postgres://x/y", statementTimeoutMs: 0.5 },
    { url: "postgres://x/y", migrate: "yes" },
  ])("%o is no way to open a store", async (options) => {
    await expect(openPostgresStore(options as PostgresStoreOptions)).rejects.toThrow(InvariantViolation);
  });

  test("calls of a closed store fail, and the caller's connections stay open", async () => {
    const store = unwrap(await openPostgresStore({ pool, schema: newSchema() }));
    await store.close();
    await store.close();
    expect(await store.listTenants({ after: undefined, limit: 1 })).toMatchObject({
      ok: false,
      error: { kind: "Transient", message: "the store is closed" },
    });
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });
});

test("the server's clock is read with every call, and shows how far ours is off", async () => {
  await using store = unwrap(await openPostgresStore({ url: server.url, schema: newSchema() }));
  const real = unwrap(await measureClockSkew(store, { nowMs: Date.now }))!;
  expect(Math.abs(real.skewMs)).toBeLessThanOrEqual(real.uncertaintyMs);
  const ahead = unwrap(await measureClockSkew(store, { nowMs: () => Date.now() + 60_000 }))!;
  expect(Math.abs(ahead.skewMs - 60_000)).toBeLessThanOrEqual(ahead.uncertaintyMs);
});

test("the name of a session has the version, the host and the process, and fits", () => {
  expect(applicationName(SCHEMA_VERSION)).toMatch(
    new RegExp(`^gossip ${VERSION.replaceAll(".", "\\.")} tables ${SCHEMA_VERSION} [!-~]+:${process.pid}$`),
  );
  expect(applicationName(SCHEMA_VERSION).length).toBeLessThanOrEqual(63);
});
