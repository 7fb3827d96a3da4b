import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { threadId } from "node:worker_threads";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { Pool } from "pg";

/** A server for tests. Set `GOSSIP_POSTGRES_URL` to test another version of PostgreSQL. */
export type TestServer = Pick<PostgresServer, "url" | "dispose">;

/** Does not wait for the disk: no test here crashes the server. */
export async function startFastPostgres(): Promise<TestServer> {
  const url = process.env["GOSSIP_POSTGRES_URL"];
  if (url !== undefined) return { url, dispose: async () => undefined };
  return startPostgres({
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off", autovacuum: "off" },
  });
}

/** `options` are settings for its sessions, such as `-c timezone=UTC`. */
export function openPool(url: string, options?: string): Pool {
  const pool = new Pool({ connectionString: url, max: 4, ...(options === undefined ? {} : { options }) });
  pool.on("error", () => undefined);
  return pool;
}

/** Connections that are checked out. */
export function heldConnections(pool: Pool): number {
  return pool.totalCount - pool.idleCount;
}

let lastTable = 0;

/** A table that no other test uses, with the columns of its definition. */
export async function makeTable(pool: Pool, definition: string): Promise<string> {
  const table = `t${process.pid}_${threadId}_${++lastTable}`;
  await pool.query(`CREATE TABLE public.${table} (${definition})`);
  return table;
}

/** A proxy to a server that can be cut and restored. */
export interface CuttableWay {
  readonly url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

export async function makeWay(url: string): Promise<CuttableWay> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  const listen = (port: number) => new Promise<void>((resolve) => proxy.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = proxy.address() as AddressInfo;
  const way = new URL(url);
  way.host = `127.0.0.1:${port}`;
  return {
    url: way.href,
    async cut() {
      const closed = new Promise((resolve) => proxy.close(resolve));
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await closed;
    },
    mend: () => listen(port),
  };
}
