import { join } from "node:path";
import type { Clock } from "@gossip/contracts";
import { ok, type Result } from "@gossip/stdx";
import { WindowGrant } from "@gossip/tso";
import type { TlsFiles } from "@gossip/server";
import type { TimestampClient } from "@gossip/tso-server";
import { fail, type CliError } from "../output/cli-error.ts";
import { makeFolder } from "../store-url/make-folder.ts";
import type { DirectAddress } from "../store-url/store-address.ts";

/** The clock of a node, and what grants its timestamps. */
export interface NodeClock {
  readonly clock: Clock;
  /** Grants `count` timestamps and returns the first. `undefined` if it cannot now. */
  timestamps(count: number): Promise<bigint | undefined>;
  /** Use other certificates between the nodes. Left out by clocks that use none. */
  reloadTls?(tls: TlsFiles): void;
  /** Use other tokens between the nodes: the first to be recognized by others, all of them to recognize others. */
  reloadTokens?(tokens: readonly string[]): void;
  close(): Promise<void>;
}

/**
 * The clock of a single node: an oracle in this process, with its state in a folder.
 *
 * By default the folder is below that of an embedded store. A store that other machines use needs a clock that all of them
 * share, so it has no default.
 */
export async function openNodeClock(
  address: DirectAddress,
  folder: string | undefined,
): Promise<Result<NodeClock, CliError>> {
  const directory = folder ?? (address.kind === "lmdb" ? join(address.path, "clock") : undefined);
  if (directory === undefined)
    return fail(
      "BadCommandLine",
      "this store can be used by several nodes, which need one clock: give --tso HOST:PORT, or --clock FOLDER if this is the only node.",
    );
  const refused = await makeFolder(directory);
  if (refused !== undefined)
    return fail("StoreNotWritable", `the folder of the clock, ${directory}, cannot be created (${refused}).`);
  const { FileDriver, Oracle, oracleClock } = await import("@gossip/tso-server");
  const driver = await FileDriver.open({ directory });
  if (!driver.ok) {
    const { kind } = driver.error;
    return kind === "AlreadyLocked"
      ? fail("NotAllowed", `another node runs with the clock in ${directory}: stop it first, or give it another store.`)
      : fail("StoreFailed", `the clock's state in ${directory} cannot be opened (${kind}).`);
  }
  const oracle = new Oracle({ driver: driver.value });
  await ready(oracle);
  return ok({
    clock: oracleClock(oracle),
    async timestamps(count) {
      const granted = await oracle.getTs(count);
      return granted.ok ? WindowGrant.first(granted.value) : undefined;
    },
    async close() {
      void (await oracle.shutdown());
      await driver.value.close();
    },
  });
}

/** The time of the oracle that a client finds. */
export async function clockOfClient(client: TimestampClient): Promise<NodeClock> {
  const { clientClock } = await import("@gossip/tso-server");
  return {
    clock: clientClock(client),
    timestamps: async (count) => {
      const granted = await client.getTsBatch(count);
      return granted.ok ? WindowGrant.first(granted.value) : undefined;
    },
    close: async () => client.close(),
  };
}

/** Wait until the oracle serves. The file driver leads at once. */
function ready(oracle: { readonly isReady: boolean; subscribe(listener: () => void): () => void }): Promise<void> {
  if (oracle.isReady) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = oracle.subscribe(() => {
      if (!oracle.isReady) return;
      stop();
      resolve();
    });
  });
}
