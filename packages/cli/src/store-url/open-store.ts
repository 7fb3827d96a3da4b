import { existsSync } from "node:fs";
import type { Clock } from "@gossip/contracts";
import { Coordinator, systemClock, type CoordinationStore } from "@gossip/coordination";
import { inspectThroughPort, type FsckSource } from "@gossip/coordination-fsck";
import type { RunTransfer } from "@gossip/coordination-lmdb";
import { err, ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";
import { makeFolder } from "./make-folder.ts";
import { etcdSentence, folderSentence, lmdbSentence, postgresSentence } from "./open-sentences.ts";
import { openService } from "./open-service.ts";
import type { OpenedDirectStore, OpenedStore } from "./opened-store.ts";
import { openOracleClock, type OracleAddress } from "./oracle-clock.ts";
import { describeStore, type DirectAddress, type StoreAddress } from "./store-address.ts";
import { timedStore } from "./timed-store.ts";

export interface OpenStoreOptions {
  readonly address: StoreAddress;
  /** Endpoints of a timestamp oracle. Default: the clock of this machine. */
  readonly tso?: OracleAddress | undefined;
  /** Refuse a folder that does not exist instead of creating it: for commands that only read. */
  readonly mustExist?: boolean;
  /** Let another process walk an embedded store first: a damaged file can kill the process that reads it. */
  readonly verify?: boolean;
}

interface RawStore {
  readonly store: CoordinationStore;
  readonly fsckSource: FsckSource;
  readonly transfer?: RunTransfer;
  close(): Promise<void>;
}

/** Open a store and create a coordinator for it, or connect to a service. */
export async function openStore({ address, ...options }: OpenStoreOptions): Promise<Result<OpenedStore, CliError>> {
  return address.kind === "service"
    ? openService(address, describeStore(address))
    : openDirectStore({ ...options, address });
}

/** Open a store in this process. */
async function openDirectStore({
  address,
  tso,
  mustExist = false,
  verify = false,
}: OpenStoreOptions & { readonly address: DirectAddress }): Promise<Result<OpenedDirectStore, CliError>> {
  const description = describeStore(address);
  if (mustExist && address.kind === "lmdb" && !existsSync(address.path)) {
    return fail(
      "RunNotFound",
      `there is no store in ${address.path}: start a run first, or name another store with --store.`,
    );
  }
  const time = await openClock(tso);
  if (!time.ok) return time;
  const raw = await openRaw(address, { where: description, mustExist, verify });
  if (!raw.ok) {
    time.value.close();
    return raw;
  }
  const { store, fsckSource, transfer } = raw.value;
  const { clock } = time.value;
  const close = async (): Promise<void> => {
    await raw.value.close();
    time.value.close();
  };
  const isShared = address.kind !== "lmdb";
  const openedOver = (observed: CoordinationStore): OpenedDirectStore => ({
    address,
    description,
    clock,
    coordinator: new Coordinator({ store: observed, clock }),
    direct: { store: observed, fsckSource, transfer, isShared },
    observe: (onCall) => openedOver(timedStore(store, onCall)),
    close,
  });
  return ok(openedOver(store));
}

async function openClock(
  tso: OracleAddress | undefined,
): Promise<Result<{ readonly clock: Clock; close(): void }, CliError>> {
  if (tso === undefined) return ok({ clock: systemClock(Date.now), close: () => {} });
  return openOracleClock(tso);
}

// Load an engine only when it is used: a driver adds a tenth of a second to the start.
async function openRaw(
  address: DirectAddress,
  { where, mustExist, verify }: { readonly where: string; readonly mustExist: boolean; readonly verify: boolean },
): Promise<Result<RawStore, CliError>> {
  switch (address.kind) {
    case "lmdb": {
      const refused = await makeFolder(address.path);
      if (refused !== undefined) return err(folderSentence(refused, where));
      const { lmdbOpenErrorMessage, openLmdbStore, verifyLmdbFolder } = await import("@gossip/coordination-lmdb");
      const verified = verify ? await verifyLmdbFolder({ path: address.path }) : ok();
      if (!verified.ok) return err(lmdbSentence(verified.error, { where, why: lmdbOpenErrorMessage(verified.error) }));
      const opened = await openLmdbStore({ path: address.path });
      if (!opened.ok) return err(lmdbSentence(opened.error, { where, why: lmdbOpenErrorMessage(opened.error) }));
      const store = opened.value;
      return ok({ store, fsckSource: store.inspect(), transfer: store.transfer(), close: () => store.close() });
    }
    case "postgres": {
      const { openPostgresStore, postgresOpenErrorMessage } = await import("@gossip/coordination-postgres");
      const opened = await openPostgresStore({
        url: address.url,
        migrate: !mustExist,
        ...(address.schema === undefined ? {} : { schema: address.schema }),
      });
      if (!opened.ok)
        return err(postgresSentence(opened.error, { where, why: postgresOpenErrorMessage(opened.error) }));
      const store = opened.value;
      return ok({ store, fsckSource: store.inspect(), close: () => store.close() });
    }
    case "etcd": {
      const { etcdOpenErrorMessage, openEtcdStore } = await import("@gossip/coordination-etcd");
      const { endpoints, prefix, login } = address;
      const opened = await openEtcdStore({ endpoints, ...(prefix === undefined ? {} : { prefix }), ...login });
      if (!opened.ok) return err(etcdSentence(opened.error, { where, why: etcdOpenErrorMessage(opened.error) }));
      const store = opened.value;
      return ok({ store, fsckSource: inspectThroughPort(store), close: async () => store.close() });
    }
  }
}
