// The creator of a source closes it. A source that keeps its connections afterwards exhausts the server's, and one that was never closed
// must not keep its process alive.
import type { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresTableSource } from "./postgres-table-source.ts";
import { makeTable, openPool, startFastPostgres, type TestServer } from "./temporary-table.fixture.ts";

const EVERYTHING = { start: new Uint8Array(0), end: new Uint8Array(0) };
/** Questions to the server in which a connection that was closed is gone from its list, and one that merely idles is not. */
const QUESTIONS = 2000;

let server: TestServer;
let pool: Pool;
let table: string;
beforeAll(async () => {
  server = await startFastPostgres();
  pool = openPool(server.url);
  table = await makeTable(pool, "id int PRIMARY KEY");
  await pool.query(`INSERT INTO ${table} SELECT generate_series(1, 6)`);
});
afterAll(async () => {
  await pool?.end();
  await server?.dispose();
});

function named(name: string): string {
  return `${server.url}?application_name=${name}`;
}

async function connectionsOf(name: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = $1",
    [name],
  );
  return rows[0]!.n;
}

async function readAll(source: ReturnType<typeof postgresTableSource>): Promise<number> {
  let count = 0;
  for await (const { items } of source.read({ range: EVERYTHING, signal: new AbortController().signal }))
    count += items.length;
  return count;
}

async function connectionsAreGone(name: string): Promise<boolean> {
  for (let asked = 0; asked < QUESTIONS; asked++) if ((await connectionsOf(name)) === 0) return true;
  return false;
}

/** What keeps the process from ending. */
function socketsInUse(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap" || kind === "PipeWrap").length;
}

// The first of them: no socket of another test is still about to go.
test("a source that is never closed does not keep the process alive", async () => {
  const before = socketsInUse();
  const source = postgresTableSource({ url: named("forgotten"), table });
  expect(await readAll(source)).toBe(6);
  // Fewer where the pool of this test has let go of one that idled.
  expect(socketsInUse()).toBeLessThanOrEqual(before);
  expect(await connectionsOf("forgotten")).toBeGreaterThan(0);
  await source.close();
});

test("a source that is disposed closes its connections", async () => {
  {
    await using source = postgresTableSource({ url: named("in-use"), table });
    expect(await readAll(source)).toBe(6);
    expect(await connectionsOf("in-use")).toBeGreaterThan(0);
  }
  expect(await connectionsAreGone("in-use")).toBe(true);
});

test("a second close waits for the first, even if the source was never used", async () => {
  const source = postgresTableSource({ url: named("twice"), table });
  expect(await readAll(source)).toBe(6);
  const closing = source.close();
  expect(source.close()).toBe(closing);
  await closing;
  expect(await connectionsAreGone("twice")).toBe(true);
  await expect(readAll(source)).rejects.toMatchObject({
    error: { kind: "SourceUnreadable", reason: "the source is closed" },
  });
  await expect(postgresTableSource({ url: named("never"), table }).close()).resolves.toBeUndefined();
});
