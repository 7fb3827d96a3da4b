import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
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

export interface StorePatience {
  /** How long to wait for a server that does not respond. */
  readonly patienceMs: number;
  /** Ends the wait. The error of the last attempt is returned. */
  readonly signal: AbortSignal;
  /** Called once, if the first attempt fails with what may pass. */
  readonly onWait: (error: CliError) => void;
}

const [LEAST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 3000];

/**
 * The same for a command that works for long: a server that does not respond is waited for, as it is later. Everything
 * else that is wrong, such as a refused login or a name that does not exist, is an error at once.
 */
export async function openStorePatiently(
  process: EndOfProcess,
  options: OpenStoreOptions,
  { patienceMs, signal, onWait }: StorePatience,
): Promise<Result<OpenedStore, CliError>> {
  const endMs = performance.now() + patienceMs;
  for (let attempts = 1; ; attempts++) {
    const opened = await openStoreFor(process, options);
    if (opened.ok || opened.error.outage === undefined) return opened;
    const leftMs = endMs - performance.now();
    if (leftMs <= 0 || signal.aborted) return opened;
    if (attempts === 1) onWait(opened.error);
    // Not in step with the other processes of a fleet.
    const pauseMs = LEAST_PAUSE_MS + Math.random() * (LONGEST_PAUSE_MS - LEAST_PAUSE_MS);
    await sleep(Math.min(leftMs, pauseMs), undefined, { signal }).catch(() => {});
    if (signal.aborted) return opened;
  }
}
