// The server plans once per connection, mostly before the tables have statistics. A plan that finds a shard by anything but its key reads the
// whole run for each write: correct results, but one a second in a run of a million shards.

import { unwrap } from "@gossip/stdx";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPostgresStore } from "../open/open-postgres-store.ts";
import { ADVANCE_SHARD, ADVANCE_SHARDS } from "./advance-shards.ts";
import { CHECK_NEW_SHARDS } from "./counts.ts";
import { listClaimCandidates } from "./list-claim-candidates.ts";
import { LIST_FIRST_SHARDS, LIST_NEXT_SHARDS } from "./list-shards.ts";
import { LOCK_SHARD } from "./locks.ts";
import { READ_SHARD, READ_SHARDS } from "./shard-reads.ts";
import type { Statement } from "./statement.ts";
import { TUNE_SESSION } from "./tune-session.ts";
import {
  UPDATE_SHARDS,
  UPDATE_SHARDS_OF_GUARDED_RUN,
  UPDATE_SHARDS_OF_RUN,
  UPDATE_SHARDS_OF_RUNS,
} from "./update-shards.ts";
import { UPDATE_SPLIT_SHARD } from "./update-split-shard.ts";
import { newSchema, startFastPostgres, type TestServer } from "../temporary-database.fixture.ts";

const schema = newSchema();
let server: TestServer;
let client: Client;

beforeAll(async () => {
  server = await startFastPostgres();
  await unwrap(await openPostgresStore({ url: server.url, schema })).close();
  client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(TUNE_SESSION);
}, 60_000);

afterAll(async () => {
  await client?.end();
  await server?.dispose();
});

const planOf = async ({ name, text }: Statement): Promise<string> => {
  const bound = text(schema);
  const last = Math.max(...[...bound.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  await client.query(`PREPARE ${name} AS ${bound}`);
  const { rows } = await client.query<{ "QUERY PLAN": string }>(
    `EXPLAIN EXECUTE ${name} (${Array.from({ length: last }, () => "NULL").join(", ")})`,
  );
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
};

const ADVANCES = [ADVANCE_SHARD, ADVANCE_SHARDS];
const UPDATES = [
  UPDATE_SHARDS,
  UPDATE_SHARDS_OF_RUNS,
  UPDATE_SHARDS_OF_RUN,
  UPDATE_SHARDS_OF_GUARDED_RUN,
  UPDATE_SPLIT_SHARD,
];
const READS = [LOCK_SHARD, READ_SHARD, READ_SHARDS, CHECK_NEW_SHARDS, listClaimCandidates(8)];

test.each([...ADVANCES, ...UPDATES, ...READS])(
  "$name finds a shard by its key in tables without statistics",
  async (statement) => {
    const plan = await planOf(statement);
    expect(plan).toContain("shards_pkey");
    expect(plan).toMatch(/Index Cond: \(\(run_id = [^)]*\) AND \(shard = /);
    expect(plan).not.toContain("shards_in_order");
  },
);

test.each([LIST_FIRST_SHARDS, LIST_NEXT_SHARDS])(
  "$name goes along the order and stops at the end of its page, and does not sort the run",
  async (statement) => {
    const plan = await planOf(statement);
    expect(plan).toContain("shards_in_order");
    expect(plan).toContain("Incremental Sort");
    expect(plan).not.toContain("->  Sort ");
  },
);
