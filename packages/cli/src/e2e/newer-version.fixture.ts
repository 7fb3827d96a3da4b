// Stores as a later version would leave them. A process of its own uses the drivers: no source of this package may.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Where the drivers of the bundled command are found. */
const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));

/** Raise the format that a folder says it has. */
export function raiseFolderFormat(folder: string): void {
  run(`import { open } from "lmdb";
    const db = open({ path: ${JSON.stringify(folder)}, encoding: "binary", keyEncoding: "binary", useVersions: true });
    await db.put(Buffer.of(1), Buffer.of(0, 0, 0, 99), 0);
    await db.close();`);
}

/** Raise the version that the tables say they have. */
export function raiseSchemaVersion(url: string): void {
  query(url, "INSERT INTO gossip.migrations (version) VALUES (99)");
}

export function query(url: string, sql: string): void {
  run(`import pg from "pg";
    const client = new pg.Client({ connectionString: ${JSON.stringify(url)} });
    await client.connect();
    await client.query(${JSON.stringify(sql)});
    await client.end();`);
}

function run(script: string): void {
  const done = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: PACKAGE, encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr);
}
