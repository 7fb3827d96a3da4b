// A backfill that leaves rows out, or lets a worker that was given up for dead write over what came after it, is found
// months later. The table's own trigger keeps the account here, not the example.
import { join } from "node:path";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { Pool } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { bundleExample, ExampleProcess } from "../example-process.fixture.ts";
import { MAKE_CUSTOMERS } from "./demo-database.ts";
import { ADD_COLUMNS, emailKey, writeEmailKeys } from "./write-email-key.ts";

const ROW_COUNT = 2000;

/** Every write of the new column, in the order in which the rows had them. */
const KEEP_ACCOUNT = `
  CREATE TABLE account (step bigserial PRIMARY KEY, shop integer, id bigint, fence bigint);
  CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO account (shop, id, fence) VALUES (NEW.shop, NEW.id, NEW.email_key_fence); RETURN NEW; END $$;
  CREATE TRIGGER note AFTER UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION note()`;

let bundle: Awaited<ReturnType<typeof bundleExample>>;
let server: PostgresServer;
let database = 0;
let url: string;
let pool: Pool;
let processes: ExampleProcess[];

beforeAll(async () => {
  [bundle, server] = await Promise.all([bundleExample(import.meta.dirname), startPostgres()]);
});
afterAll(() => Promise.all([bundle.remove(), server.dispose()]));
beforeEach(async () => {
  processes = [];
  const name = `backfill_${++database}`;
  const admin = new Pool({ connectionString: server.url });
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  url = server.url.replace(/\/postgres$/, `/${name}`);
  pool = new Pool({ connectionString: url });
  await pool.query(MAKE_CUSTOMERS);
  await pool.query(KEEP_ACCOUNT);
});
afterEach(async () => {
  for (const example of processes) await example.kill();
  await pool.end();
});

function start({
  DATABASE_URL,
  args = [],
  nodeArgs = [],
}: {
  readonly DATABASE_URL: string | undefined;
  readonly args?: readonly string[];
  readonly nodeArgs?: readonly string[];
}): ExampleProcess {
  const example = new ExampleProcess(bundle.script, { args, nodeArgs, env: { DATABASE_URL } });
  processes.push(example);
  return example;
}

async function pidOf(example: ExampleProcess, worker: string): Promise<number> {
  const [, pid] = await example.line(new RegExp(`^worker ${worker} is process (\\d+)$`));
  return Number(pid);
}

/** The fences that each row was written with, in their order. */
async function fencesByRow(): Promise<Map<string, bigint[]>> {
  const { rows } = await pool.query<{ shop: number; id: string; fence: string }>(
    "SELECT shop, id, fence FROM account ORDER BY step",
  );
  const fences = new Map<string, bigint[]>();
  for (const { shop, id, fence } of rows)
    fences.set(`${shop}/${id}`, [...(fences.get(`${shop}/${id}`) ?? []), BigInt(fence)]);
  return fences;
}

async function expectEveryRowRight(): Promise<void> {
  const { rows } = await pool.query<{ email: string; email_key: string | null }>(
    "SELECT email, email_key FROM customers",
  );
  expect(rows).toHaveLength(ROW_COUNT);
  expect(rows.filter(({ email, email_key: key }) => key !== emailKey(email))).toEqual([]);
}

/** No row was written twice with one fence, and none by an older one after a newer. */
function expectFencesRise(fences: ReadonlyMap<string, readonly bigint[]>): void {
  const wrong = [...fences].filter(([, written]) =>
    written.some((fence, index) => index > 0 && fence <= written[index - 1]!),
  );
  expect(wrong).toEqual([]);
}

test("a worker is killed half-way, and every row is written once for each fence that it had", async () => {
  const example = start({ DATABASE_URL: url, args: ["--slow", "50"] });
  const [, victim] = await example.line(/^worker (\d): stored/);
  process.kill(await pidOf(example, victim!), "SIGKILL");

  expect(await example.ended, example.text).toEqual({ code: 0, signal: null });
  expect(example.lines).toContain(`worker ${victim} was ended by SIGKILL; the others take over`);
  expect(example.lines).toContain(`${ROW_COUNT} rows, 0 without an email_key`);
  await expectEveryRowRight();
  const fences = await fencesByRow();
  expect(fences.size).toBe(ROW_COUNT);
  expectFencesRise(fences);
  // Written by the worker that was killed, not stored yet, and written again by the next: of one shard out of 24.
  const twice = [...fences.values()].filter((written) => written.length > 1).length;
  expect(twice).toBeLessThan(ROW_COUNT / 8);
});

test("a worker that sleeps through the loss of its shard writes over nothing when it wakes", async () => {
  const example = start({ DATABASE_URL: url, args: ["--slow", "50"] });
  const [, sleeper] = await example.line(/^worker (\d): stored/);
  const pid = await pidOf(example, sleeper!);
  process.kill(pid, "SIGSTOP");
  const others = ["1", "2", "3"].filter((worker) => worker !== sleeper);
  for (const worker of others) await example.line(new RegExp(`^worker ${worker}: \\d+ rows, \\d+ refused, then Done$`));
  const before = await pool.query("SELECT * FROM customers ORDER BY shop, id");
  process.kill(pid, "SIGCONT");

  expect(await example.ended, example.text).toEqual({ code: 0, signal: null });
  const after = await pool.query("SELECT * FROM customers ORDER BY shop, id");
  expect(after.rows).toEqual(before.rows);
  await expectEveryRowRight();
  expectFencesRise(await fencesByRow());
});

test("no worker is killed: every row is written exactly once, and the same command finds nothing to do", async () => {
  const first = start({ DATABASE_URL: url });
  expect(await first.ended, first.text).toEqual({ code: 0, signal: null });
  await expectEveryRowRight();
  expect([...(await fencesByRow()).values()].map(({ length }) => length)).toEqual(
    Array.from({ length: ROW_COUNT }, () => 1),
  );

  const second = start({ DATABASE_URL: url });
  expect(await second.ended, second.text).toEqual({ code: 0, signal: null });
  expect(second.lines).toContain("the run was begun before and is Done: going on");
  expect((await fencesByRow()).size).toBe(ROW_COUNT);
});

test("a row takes a newer fence, and neither an older one nor the same again", async () => {
  await pool.query(ADD_COLUMNS);
  const write = async (email: string, fence: bigint): Promise<boolean> =>
    (await writeEmailKeys(pool, [{ shop: 1, id: "1", email }], fence)) === 1;
  expect(await write("second@example.org", 3n)).toBe(true);
  expect(await write("first@example.org", 2n)).toBe(false);
  expect(await write("again@example.org", 3n)).toBe(false);
  const { rows } = await pool.query("SELECT email_key, email_key_fence FROM customers WHERE shop = 1 AND id = 1");
  expect(rows).toEqual([{ email_key: emailKey("second@example.org"), email_key_fence: "3" }]);
  expect(await write("third@example.org", 4n)).toBe(true);
});

test("without a database it brings its own, and says so where the table is missing", async () => {
  const ts = join(import.meta.dirname, "../../tools/ts/register.mjs");
  const demo = start({ DATABASE_URL: undefined, nodeArgs: ["--import", ts] });
  await pool.query("DROP TABLE customers");
  const missing = start({ DATABASE_URL: url });
  expect(await missing.ended, missing.text).toEqual({ code: 1, signal: null });
  expect(missing.lines).toEqual(["Cannot start: there is no table public.customers"]);
  expect(await demo.ended, demo.text).toEqual({ code: 0, signal: null });
  expect(demo.lines).toContain(`${ROW_COUNT} rows, 0 without an email_key`);
});
