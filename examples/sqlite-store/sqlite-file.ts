import sqlite, { type Database, type JSValue, type SQLiteValue, type Statement } from "node-sqlite3-wasm";
import { SCHEMA } from "./schema.ts";

export type Row = Record<string, SQLiteValue>;

/** Thrown when COMMIT itself failed: the file may or may not contain the transaction. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super("a commit failed", { cause });
  }
}

/** One SQLite file, its prepared statements and its transactions. Every call runs to its end before it returns. */
export class SqliteFile {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(path: string, { synchronous }: { readonly synchronous: "FULL" | "OFF" }) {
    this.#database = new sqlite.Database(path);
    try {
      // With one process a file, SQLite locks the file once. It needs no shared memory for WAL either.
      this.#database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = ${synchronous}`);
      this.#database.exec("PRAGMA journal_mode = WAL");
      this.#database.exec(SCHEMA);
    } catch (thrown) {
      this.#database.close();
      throw thrown;
    }
  }

  all(sql: string, ...values: JSValue[]): readonly Row[] {
    return this.#execute(sql, (statement) => statement.all(values) as Row[]);
  }

  first(sql: string, ...values: JSValue[]): Row | undefined {
    return this.#execute(sql, (statement) => statement.get(values) as Row | null) ?? undefined;
  }

  run(sql: string, ...values: JSValue[]): void {
    this.#execute(sql, (statement) => statement.run(values));
  }

  /** Runs `write` in a transaction. If it throws, the transaction is rolled back and changed nothing. */
  transact<T>(write: () => T): T {
    this.run("BEGIN IMMEDIATE");
    let result: T;
    try {
      result = write();
    } catch (thrown) {
      this.#rollBack();
      throw thrown;
    }
    try {
      this.run("COMMIT");
    } catch (thrown) {
      this.#rollBack();
      throw new UnknownOutcome(thrown);
    }
    return result;
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#database.close();
  }

  #rollBack(): void {
    // SQLite rolls back by itself after some failures.
    if (this.#database.inTransaction) this.run("ROLLBACK");
  }

  #execute<T>(sql: string, execute: (statement: Statement) => T): T {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    try {
      return execute(statement);
    } catch (thrown) {
      // A failed statement would report the same error again when it is reset.
      this.#statements.delete(sql);
      finalize(statement);
      throw thrown;
    }
  }
}

function finalize(statement: Statement): void {
  try {
    statement.finalize();
  } catch {
    // SQLite finalizes the statement and reports the error of its last run, which the caller has.
  }
}
