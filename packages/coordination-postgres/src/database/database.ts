import type { Pool, PoolClient, QueryResult, QueryResultRow } from "pg";
import { leavesConnectionUsable, NoConnection, UnknownOutcome } from "./postgres-failure.ts";
import { TABLE_EXISTS } from "../sql/migrations.ts";
import { bindStatement, type BoundStatement, type Statement } from "../sql/statement.ts";

/** Something that statements can be run on, one after the other. */
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
 * The only file that knows the driver's way of running things. A connection on which anything failed but a
 * statement that the server has undone is closed: what it would answer next, and to what, nobody knows.
 */
export class Database {
  readonly #pool: Pool;
  readonly #schema: string;
  readonly #bound = new Map<string, BoundStatement>();
  /** Tables that are known to exist. */
  readonly #tables = new Set<string>();

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#schema = schema;
  }

  /** The schema's name as SQL has it. */
  get schema(): string {
    return this.#schema;
  }

  /** Run one statement, which is a transaction of its own. `NoConnection` where it was never sent. */
  run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return this.#withClient((client) => this.#query<Row>(client, statement, values));
  }

  /** `run` for a statement that gives no rows: how many it wrote. */
  change(statement: Statement, values: readonly unknown[]): Promise<number> {
    return this.#withClient(async (client) => (await this.#send(client, statement, values)).rowCount ?? 0);
  }

  /**
   * Run statements in one transaction. Where `body` throws, or answers `undefined`, it is taken back.
   *
   * Thrown is whatever made it fail, where it was certainly taken back: without a commit there is none. Where the
   * commit itself got no answer it is `UnknownOutcome`.
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

  /** Run a text by itself. */
  execute(text: string): Promise<void> {
    return this.use((connection) => connection.execute(text));
  }

  /** A connection, until it is released. */
  async hold(): Promise<HeldConnection> {
    const client = await this.#connect();
    const release = ({ isBroken }: { readonly isBroken: boolean }): void => {
      client.off("error", ignore);
      client.release(isBroken);
    };
    return { ...this.#connectionOf(client), release };
  }

  /** Run statements on one connection. */
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
      // A connection that breaks between two statements says so with an event, which nobody may leave unheard.
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
