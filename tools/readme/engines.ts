// The servers behind the addresses in examples: one of each kind for all blocks, started when first needed.
//
// A page writes addresses that a reader understands, and the runner replaces them:
//   postgres://USER:PASSWORD@db.internal/NAME?…   a database of this block alone, prepared by DATABASES
//   etcd://etcd-1.internal:2379,…                 the etcd, empty
//   http://etcd-1.internal:2379                   the same, for the client
//   http://s3.internal:9000                       an S3 server with the bucket `photos`, for the credentials of the page,
//                                                 or those of the environment
import { createRequire } from "node:module";
import { join } from "node:path";
import {
  etcdSkipped,
  radosGatewaySkipped,
  startEtcd,
  startPostgres,
  startRadosGateway,
  type EtcdServer,
  type PostgresServer,
  type RadosGateway,
} from "../engines/index.ts";
import { packageFolder } from "../layers/layers.ts";
import type { Block } from "./blocks.ts";
import { resolveFromRoot } from "./pages.ts";
import { missingPrograms, postgresFor } from "./needed-programs.ts";

const POSTGRES_ADDRESS = /postgres:\/\/(?:[^\s"'`@/]*@)?db\.internal\/(\w+)(?:\?[\w=&-]*)?/g;
const ETCD_STORE_ADDRESS = /etcds?:\/\/(?:[^\s"'`@/]*@)?(?:[\w-]+\.internal:2379,?)+/g;
const ETCD_ADDRESS = /https?:\/\/[\w-]+\.internal:2379/g;

const S3_ADDRESS = "http://s3.internal:9000";
const BUCKET = "photos";
const BUCKET_KEYS = ["2025/old.jpg", "2026/ant.jpg", "2026/bee.jpg", "2026/cat.jpg"];
/** What a page writes as its credentials. */
const CREDENTIALS = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "example-secret" };

/** What the databases of examples hold before the block runs. `gossip` is the store's own and starts empty. */
const DATABASES: Readonly<Record<string, string>> = {
  gossip: "",
  shop: `
    CREATE TABLE orders (id bigint PRIMARY KEY, quantity integer NOT NULL, price integer NOT NULL, total integer);
    INSERT INTO orders SELECT n, n, 10, NULL FROM generate_series(1, 20) AS n;
    CREATE TABLE customers (shop integer, id bigint, email text NOT NULL, email_key text, email_key_fence bigint, PRIMARY KEY (shop, id))`,
};

interface Client {
  connect(): Promise<void>;
  query(sql: string): Promise<unknown>;
  end(): Promise<void>;
}

/** Servers for one block, or for all blocks of a page. */
export interface OpenedServers {
  /** Code of a page with addresses that work. */
  toReal(code: string): string;
  /** Text with the addresses of the page, where real ones are in it. */
  toPage(text: string): string;
  /** Variables with the credentials that the code takes from its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Call it when the block, or the page, has ended. */
  release(): void;
}

export class Engines {
  /** By the folder of the binaries; those of the npm package under an empty name. */
  readonly #postgres = new Map<string, Promise<PostgresServer>>();
  #etcd: Promise<EtcdServer> | undefined;
  #gateway: Promise<RadosGateway> | undefined;
  /** Settles when the last caller that uses etcd has released it. */
  #etcdFree: Promise<void> = Promise.resolve();
  #databaseCount = 0;

  /** Why a block cannot run on this machine; `undefined` if it can. */
  missingFor({ code }: Block): string | undefined {
    const needsEtcd = code.search(ETCD_STORE_ADDRESS) >= 0 || code.search(ETCD_ADDRESS) >= 0;
    const needsS3 = code.includes(S3_ADDRESS);
    return (
      (needsEtcd ? etcdSkipped() : undefined) ?? (needsS3 ? radosGatewaySkipped() : undefined) ?? missingPrograms(code)
    );
  }

  /** Start the servers that the code names. They are empty, and its own until it is released. */
  async open(code: string): Promise<OpenedServers> {
    const urls = await this.#makeDatabases(code);
    const etcd = await this.#takeEtcd(code);
    const { pairs: bucket, env } = await this.#makeBucket(code);
    return {
      env,
      toReal: (text) => {
        const withBucket = swap(text, bucket);
        const withDatabases = withBucket.replaceAll(POSTGRES_ADDRESS, (_, name: string) => urls.get(name)!);
        if (etcd === undefined) return withDatabases;
        return withDatabases
          .replaceAll(ETCD_STORE_ADDRESS, etcd.endpoint.replace("http:", "etcd:"))
          .replaceAll(ETCD_ADDRESS, etcd.endpoint);
      },
      toPage: (text) => {
        let shown = swap(
          text,
          bucket.map(([page, real]) => [real, page]),
        );
        for (const [name, url] of urls) shown = shown.replaceAll(addressIn(url), `db.internal/${name}`);
        return etcd === undefined ? shown : shown.replaceAll(new URL(etcd.endpoint).host, "etcd-1.internal:2379");
      },
      release: () => etcd?.release(),
    };
  }

  /** Run statements in a database with the tables of the PostgreSQL store and of DATABASES. Parameters make it prepare only. */
  async runSql(statements: readonly string[], onFailure: (index: number, message: string) => void): Promise<void> {
    const url = await this.#makeDatabase("shop");
    const { openPostgresStore } = (await import(resolveFromRoot("@gossip/coordination-postgres"))) as {
      readonly openPostgresStore: (options: object) => Promise<{ value: { close(): Promise<void> } }>;
    };
    await (await openPostgresStore({ url })).value.close();
    await withClient(url, async (client) => {
      for (const [index, statement] of statements.entries()) {
        try {
          await client.query(/\$\d/.test(statement) ? `PREPARE example_${index} AS ${statement}` : statement);
        } catch (thrown) {
          onFailure(index, thrown instanceof Error ? thrown.message : String(thrown));
        }
      }
    });
  }

  async dispose(): Promise<void> {
    for (const server of this.#postgres.values()) await (await server).dispose();
    await (await this.#etcd)?.dispose();
    await (await this.#gateway)?.dispose();
  }

  /** A bucket of its own, if the code names the S3 server: what a page writes, and what is there instead. */
  async #makeBucket(code: string): Promise<{
    readonly pairs: readonly (readonly [page: string, real: string])[];
    readonly env: Readonly<Record<string, string>>;
  }> {
    if (!code.includes(S3_ADDRESS)) return { pairs: [], env: {} };
    this.#gateway ??= startRadosGateway();
    const gateway = await this.#gateway;
    const bucket = await gateway.makeBucket(BUCKET_KEYS);
    const { accessKeyId, secretAccessKey } = gateway.credentials;
    return {
      pairs: [
        [S3_ADDRESS, gateway.endpoint],
        [`s3://${BUCKET}`, `s3://${bucket}`],
        [`bucket: "${BUCKET}"`, `bucket: "${bucket}"`],
        [CREDENTIALS.accessKeyId, accessKeyId],
        [CREDENTIALS.secretAccessKey, secretAccessKey],
      ],
      env: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    };
  }

  /** The etcd, emptied, if the code names one. One caller has it at a time, because all share its keys. */
  async #takeEtcd(code: string): Promise<{ readonly endpoint: string; readonly release: () => void } | undefined> {
    if (code.search(ETCD_STORE_ADDRESS) < 0 && code.search(ETCD_ADDRESS) < 0) return undefined;
    const before = this.#etcdFree;
    let release = (): void => {};
    this.#etcdFree = new Promise((resolve) => (release = resolve));
    await before;
    this.#etcd ??= startEtcd();
    const { endpoint } = await this.#etcd;
    await emptyEtcd(endpoint);
    return { endpoint, release };
  }

  async #makeDatabases(code: string): Promise<ReadonlyMap<string, string>> {
    const names = new Set([...code.matchAll(POSTGRES_ADDRESS)].map((match) => match[1]!));
    const urls = new Map<string, string>();
    for (const name of names) urls.set(name, await this.#makeDatabase(name, postgresFor(code)));
    return urls;
  }

  async #makeDatabase(name: string, native?: string): Promise<string> {
    const content = DATABASES[name];
    if (content === undefined)
      throw new Error(`no example database is called ${name}: add it to DATABASES, or use gossip`);
    const starting = this.#postgres.get(native ?? "") ?? startPostgres({ settings: { fsync: "off" }, native });
    this.#postgres.set(native ?? "", starting);
    const server = await starting;
    const database = `example_${this.#databaseCount++}_${name}`;
    await withClient(server.url, (client) => client.query(`CREATE DATABASE ${database}`));
    const url = server.url.replace(/\/postgres$/, `/${database}`);
    if (content !== "") await withClient(url, (client) => client.query(content));
    return url;
  }
}

/** The driver is a dependency of the store, not of the tools. */
const requirePg = createRequire(join(packageFolder("coordination-postgres"), "package.json"));

async function withClient(url: string, use: (client: Client) => Promise<unknown>): Promise<void> {
  const { Client } = requirePg("pg") as { Client: new (options: object) => Client };
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

function swap(text: string, pairs: readonly (readonly [from: string, to: string])[]): string {
  return pairs.reduce((swapped, [from, to]) => swapped.replaceAll(from, to), text);
}

/** Host, port and database of a URL, as they are printed without credentials. */
function addressIn(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

/** Delete every key. */
async function emptyEtcd(endpoint: string): Promise<void> {
  const everything = Buffer.of(0).toString("base64");
  const response = await fetch(`${endpoint}/v3/kv/deleterange`, {
    method: "POST",
    body: JSON.stringify({ key: everything, range_end: everything }),
  });
  if (!response.ok) throw new Error(`etcd could not be emptied: ${response.status}`);
}
