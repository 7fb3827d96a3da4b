import type { Pool, PoolClient, QueryResult, QueryResultRow } from "pg";
import { leavesConnectionUsable, NoConnection, UnknownOutcome } from "./postgres-failure.ts";
import { TABLE_EXISTS } from "../sql/migrations.ts";
import { bindStatement, type BoundStatement, type Statement } from "../sql/statement.ts";

/** Runs statements, one after the other. */
export interface Connection {
  run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Runs a text that takes no values and returns no rows. */
  execute(text: string): Promise<void>;
  /** Whether the schema has a table. A migration may add one while this process runs; none ever goes away. */
  hasTable(name: string): Promise<boolean>;
}

/** A connection that is held until it is released. */
export interface HeldConnection extends Connection {
  release(how: { readonly isBroken: boolean }): void;
}

const ignore = (): void => undefined;

/**
 * The connections of a store, and the statements of its schema.
 *
 * The only file that calls the driver. After any failure other than a statement that the server rolled back, the connection is closed,
 * because its state is unknown.
 */
export class Database {
  readonly #pool: Pool;
  readonly #schema: string;
  readonly #bound = new Map<string, BoundStatement>();
  /** Tables that are known to exist. */
  readonly #tables: Set<string>;

  constructor(pool: Pool, schema: string, knownTables: readonly string[] = []) {
    this.#tables = new Set(knownTables);
    this.#pool = pool;
    this.#schema = schema;
  }

  /** The schema's name, quoted for SQL. */
  get schema(): string {
    return this.#schema;
  }

  /** Runs one statement as its own transaction. Throws `NoConnection` if it was never sent. */
  run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return this.#withClient((client) => this.#query<Row>(client, statement, values));
  }

  /** `run` for a statement without result rows. Returns how many rows it wrote. */
  change(statement: Statement, values: readonly unknown[]): Promise<number> {
    return this.#withClient(async (client) => (await this.#send(client, statement, values)).rowCount ?? 0);
  }

  /**
   * Runs statements in one transaction. Rolls back if `body` throws or returns `undefined`.
   *
   * Throws the original error if nothing was committed, and `UnknownOutcome` if the reply to the commit was lost.
   */
  transact<T>(body: (connection: Connection) => Promise<{ readonly commit: boolean; readonly answer: T }>): Promise<T> {
    return this.#withClient(async (client) => {
      const connection = this.#connectionOf(client);
      await client.query("BEGIN");
      const { commit, answer } = await this.#attempt(client, () => body(connection));
      if (!commit) {
        await client.query("ROLLBACK");
        return answer;
      }
      try {
        await client.query("COMMIT");
      } catch (thrown) {
        throw leavesConnectionUsable(thrown) ? thrown : new UnknownOutcome(thrown);
      }
      return answer;
    });
  }

  /**
   * Whether the schema is known to have a table, without asking the server: it may have it all the same, until
   * `learnTable` has found it.
   */
  knowsTable(name: string): boolean {
    return this.#tables.has(name);
  }

  /** Whether the schema has a table. Asks the server until it has. */
  async learnTable(name: string): Promise<boolean> {
    return this.#tables.has(name) || this.use((connection) => connection.hasTable(name));
  }

  /** Runs SQL text without parameters. */
  execute(text: string): Promise<void> {
    return this.use((connection) => connection.execute(text));
  }

  /** Takes a connection. The caller releases it. */
  async hold(): Promise<HeldConnection> {
    const client = await this.#connect();
    const release = ({ isBroken }: { readonly isBroken: boolean }): void => {
      client.off("error", ignore);
      client.release(isBroken);
    };
    return { ...this.#connectionOf(client), release };
  }

  /** Runs statements on one connection. */
  use<T>(body: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#withClient((client) => body(this.#connectionOf(client)));
  }

  async #attempt<T>(client: PoolClient, body: () => Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (thrown) {
      if (leavesConnectionUsable(thrown)) await client.query("ROLLBACK");
      throw thrown;
    }
  }

  async #withClient<T>(body: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let broken: unknown = true;
    try {
      const answer = await body(client);
      broken = undefined;
      return answer;
    } catch (thrown) {
      broken = leavesConnectionUsable(thrown) ? undefined : thrown;
      throw thrown;
    } finally {
      client.off("error", ignore);
      client.release(broken !== undefined);
    }
  }

  async #connect(): Promise<PoolClient> {
    try {
      const client = await this.#pool.connect();
      // A connection that breaks between two statements emits an `error` event; without a listener the process would end.
      client.on("error", ignore);
      return client;
    } catch (thrown) {
      throw new NoConnection(thrown);
    }
  }

  #connectionOf(client: PoolClient): Connection {
    return {
      run: (statement, values) => this.#query(client, statement, values),
      execute: async (text) => {
        await client.query(text);
      },
      hasTable: (name) => this.#hasTable(client, name),
    };
  }

  async #hasTable(client: PoolClient, name: string): Promise<boolean> {
    if (this.#tables.has(name)) return true;
    const { rows } = await client.query<{ there: boolean }>(TABLE_EXISTS, [this.#schema, name]);
    const isThere = rows[0]?.there === true;
    if (isThere) this.#tables.add(name);
    return isThere;
  }

  async #query<Row extends QueryResultRow>(
    client: PoolClient,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const { rows } = await this.#send<Row>(client, statement, values);
    return rows;
  }

  #send<Row extends QueryResultRow>(
    client: PoolClient,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    return client.query<Row>({ ...this.#bind(statement), values: values as unknown[] });
  }

  #bind(statement: Statement): BoundStatement {
    let bound = this.#bound.get(statement.name);
    if (bound === undefined) {
      bound = bindStatement(statement, this.#schema);
      this.#bound.set(statement.name, bound);
    }
    return bound;
  }
}
