import { ok, type Result } from "@gossip/stdx";
import type { CliError } from "../output/cli-error.ts";
import { openStore, type OpenStoreOptions } from "./open-store.ts";
import type { OpenedStore } from "./opened-store.ts";

/** The part of a command's process that ends it. */
export interface EndOfProcess {
  beforeExit(close: () => Promise<void>): () => void;
}

/**
 * Opens a store that is closed even if the command exits at once.
 *
 * The driver of the embedded store deadlocks if the process exits during a transaction: the transaction waits for a
 * callback of the main thread, and the exit waits for the transaction.
 */
export async function openStoreFor(
  process: EndOfProcess,
  options: OpenStoreOptions,
): Promise<Result<OpenedStore, CliError>> {
  const opened = await openStore(options);
  if (!opened.ok) return opened;
  const forget = process.beforeExit(opened.value.close);
  const close = async (): Promise<void> => {
    await opened.value.close();
    forget();
  };
  return ok({ ...opened.value, close });
}
