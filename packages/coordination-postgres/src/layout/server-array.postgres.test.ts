// The server does not validate a binary parameter: a misplaced half of a number, or a wrong null, is another value and no error. So these tests
// ask the server what it has read.

import fc from "fast-check";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { byteaArray, int8Array, nameArray, u64Array, type ServerArray } from "./server-array.ts";
import { startFastPostgres, type TestServer } from "../temporary-database.fixture.ts";
import { u64Bytes } from "./u64-bytes.ts";

let server: TestServer;
let pool: Pool;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 1 });
});

afterAll(async () => {
  await pool?.end();
  await server?.dispose();
});

/** Beside an array that is as long, as in every statement. */
async function read(type: string, parameter: ServerArray, { length }: readonly unknown[]): Promise<unknown[]> {
  const text = `SELECT value FROM unnest($1::${type}[], $2::int[]) WITH ORDINALITY AS given(value, other, place) ORDER BY place`;
  const { rows } = await pool.query<{ value: unknown }>(text, [parameter, Array.from({ length }, (_, index) => index)]);
  return rows.map(({ value }) => value);
}

const listOf = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { maxLength: 6 });
const anyBytes = fc.uint8Array({ maxLength: 5 });
const orNothing = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

test("whole numbers, to the edges of what is exact and of 32 bits", async () => {
  const edges = fc.constantFrom(
    0,
    1,
    -1,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 32 + 1,
    -(2 ** 32),
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
  );
  await fc.assert(
    fc.asyncProperty(listOf(fc.option(fc.oneof(edges, fc.maxSafeInteger()))), async (values) => {
      expect(await read("bigint", int8Array(values), values)).toEqual(
        values.map((value) => (value === null ? null : String(value))),
      );
    }),
  );
});

test("u64s as they are stored", async () => {
  await fc.assert(
    fc.asyncProperty(listOf(orNothing(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))), async (values) => {
      expect(await read("bytea", u64Array(values), values)).toEqual(
        values.map((value) => (value === undefined ? null : u64Bytes(value))),
      );
    }),
  );
});

test("bytes, and no bytes", async () => {
  await fc.assert(
    fc.asyncProperty(listOf(orNothing(anyBytes)), async (values) => {
      expect(await read("bytea", byteaArray(values), values)).toEqual(
        values.map((value) => (value === undefined ? null : Buffer.from(value))),
      );
    }),
  );
});

test("names", async () => {
  await fc.assert(
    fc.asyncProperty(listOf(orNothing(fc.constantFrom("Active", "Parked", "TooManyErrors", ""))), async (values) => {
      expect(await read("text", nameArray(values), values)).toEqual(values.map((value) => value ?? null));
    }),
  );
});
