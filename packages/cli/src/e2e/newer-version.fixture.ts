// Stores as a later version would leave them. The drivers are reached from a process of its own: this package has none.
import { spawnSync } from "node:child_process";
import { OUTSIDE } from "../processes/gossip-bundle.fixture.ts";

/** Raise the format that a folder says it has. */
export function raiseFolderFormat(folder: string): void {
  run(`import { open } from ${JSON.stringify(OUTSIDE.lmdb)};
    const db = open({ path: ${JSON.stringify(folder)}, encoding: "binary", keyEncoding: "binary", useVersions: true });
    await db.put(Buffer.of(1), Buffer.of(0, 0, 0, 99), 0);
    await db.close();`);
}

/** Raise the version that the tables say they have. */
export function raiseSchemaVersion(url: string): void {
  query(url, "INSERT INTO gossip.migrations (version) VALUES (99)");
}

export function query(url: string, sql: string): void {
  run(`import pg from ${JSON.stringify(OUTSIDE.pg)};
    const client = new pg.Client({ connectionString: ${JSON.stringify(url)} });
    await client.connect();
    await client.query(${JSON.stringify(sql)});
    await client.end();`);
}

function run(script: string): void {
  const done = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr);
}
