import { InfraError } from "@gossip/coordination-errors";
import type { StoreOperation } from "@gossip/store-kit";

/** Describes what SQLite threw, in fixed words. Its own text goes into `cause`, because it may quote stored data. */
export function failureFrom(operation: StoreOperation<"sqlite"> | "sqlite.open", cause: unknown): InfraError {
  const text = cause instanceof Error ? cause.message : "";
  if (/malformed|not a database/u.test(text))
    return InfraError.corruption({ operation, message: "the file is damaged", cause });
  if (/locked/u.test(text))
    return InfraError.transient({ operation, message: "another process has the file open", cause });
  if (/full/u.test(text)) return InfraError.transient({ operation, message: "the disk is full", cause });
  return InfraError.transient({ operation, message: "SQLite failed", cause });
}
