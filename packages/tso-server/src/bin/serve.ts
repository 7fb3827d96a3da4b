import { err, ok, type Result } from "@gossip/stdx";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { EtcdDriver } from "../etcd-driver/etcd-driver.ts";
import { readEtcdSettings } from "../flags/etcd-flags.ts";
import type { FlagError } from "../flags/flag-files.ts";
import { reloadServer } from "../flags/reload-server.ts";
import { readServerFlags } from "../flags/server-flags.ts";
import { FileDriver, type FileOpenError } from "../file/file-driver.ts";
import type { ServingState } from "../oracle/get-ts-error.ts";
import type { OracleEvent } from "../oracle/oracle-options.ts";
import { startHeartbeat } from "../server/heartbeat.ts";
import { OracleServer, type ServerError } from "../server/oracle-server.ts";
import { systemMonotonicClock, systemTimers } from "../time/system-time.ts";
import type { ServeCommand } from "./arguments.ts";

export interface ServeSurroundings {
  readonly say: (line: string) => void;
  /** Calls `stop` once, when the server should stop. */
  readonly onStop: (stop: () => void) => void;
  /** Calls `reload` whenever certificates and tokens should be read again. */
  readonly onReload: (reload: () => void) => void;
}

/** A disk that could not be written to: what it holds is not known, so the process should start over. */
export interface PersistFailed {
  readonly kind: "PersistFailed";
  readonly reason: string;
}

/** Serves until stopped, or until it cannot go on. */
export async function serve(
  command: ServeCommand,
  surroundings: ServeSurroundings,
): Promise<Result<void, FileOpenError | ServerError | PersistFailed | FlagError>> {
  const { say, onStop, onReload } = surroundings;
  const security = await readServerFlags(command.security, { cwd: process.cwd() });
  if (!security.ok) return security;
  const opened = await openDriver(command, say);
  if (!opened.ok) return opened;
  const driver = opened.value;
  let failure: PersistFailed | undefined;
  let stop = (): void => {};
  const onEvent = (event: OracleEvent): void => {
    say(lineOfEvent(event));
    if (event.kind !== "PersistFailed") return;
    failure ??= { kind: "PersistFailed", reason: event.reason };
    stop();
  };
  const { socketPath, http, windowAheadMs, failoverAdvanceMs, limits } = command;
  const started = await OracleServer.start({
    driver,
    ...security.value,
    windowAheadMs,
    failoverAdvanceMs,
    limits,
    onEvent,
    listen: [command.listen, ...(socketPath === undefined ? [] : [{ path: socketPath }])],
    ...(http === undefined ? {} : { http }),
  });
  if (!started.ok) {
    await driver.close();
    return started;
  }
  const server = started.value;
  stop = () => void server.shutdown();
  onStop(() => stop());
  onReload(() => void reload(server, command, say));
  for (const address of server.addresses) say(`listening ${address}`);
  if (server.httpAddress !== undefined) say(`http ${server.httpAddress}`);
  server.oracle.subscribe((state) => say(lineOfState(state)));
  say(lineOfState(server.oracle.state));
  const stopHeartbeat = command.heartbeatS === 0 ? () => {} : beat(server, command.heartbeatS, say);

  const finished = await server.finished;
  stopHeartbeat();
  // Only now: another node may lead from here on.
  await driver.close();
  return failure === undefined ? finished : err(failure);
}

async function reload(server: OracleServer, { security }: ServeCommand, say: (line: string) => void): Promise<void> {
  const reloaded = await reloadServer(server, security, { cwd: process.cwd() });
  say(reloaded.ok ? "reloaded certificates and tokens" : `not reloaded reason=${reloaded.error.message}`);
}

async function openDriver(
  command: ServeCommand,
  say: (line: string) => void,
): Promise<Result<ConsensusDriver, FileOpenError | FlagError>> {
  const { store, listen, advertise } = command;
  if (store.kind === "file") return FileDriver.open({ directory: store.directory });
  const reachable = advertise ?? ownEndpoint(listen);
  const { settings, prefix, leaseTtlS } = store;
  const connection = await readEtcdSettings(settings, { env: process.env, cwd: process.cwd() });
  if (!connection.ok) return connection;
  const onFailure = (reason: string): void => say(`etcd failed reason=${reason}`);
  const own = reachable === undefined ? {} : { advertise: reachable };
  return ok(new EtcdDriver({ ...connection.value, prefix, leaseTtlS, onFailure, ...own }));
}

/** The listening address, where others can use it: neither "every address" nor a port yet to be chosen. */
function ownEndpoint({ host, port }: { readonly host: string; readonly port: number }): PeerEndpoint | undefined {
  if (host === "0.0.0.0" || host === "::") return undefined;
  const own = PeerEndpoint.parse(`${host.includes(":") ? `[${host}]` : host}:${port}`);
  return own.ok ? own.value : undefined;
}

function beat(server: OracleServer, everyS: number, say: (line: string) => void): () => void {
  return startHeartbeat(server.oracle, {
    everyMs: everyS * 1000,
    timers: systemTimers,
    monotonicClock: systemMonotonicClock,
    onBeat: (heartbeat) => {
      const parts = Object.entries(heartbeat).map(
        ([name, value]) => `${name}=${typeof value === "number" ? Math.round(value) : String(value ?? "none")}`,
      );
      say(`heartbeat ${parts.join(" ")}`);
    },
  });
}

function lineOfState(state: ServingState): string {
  if (state.kind === "Serving") return `serving epoch=${state.epoch}`;
  return `not serving leader=${state.leaderEndpoint ?? "unknown"}`;
}

function lineOfEvent(event: OracleEvent): string {
  switch (event.kind) {
    case "ClockRefused":
      return `clock refused reading=${event.readingMs} used=${event.usedMs}`;
    case "FenceStuck":
      return `fence stuck tries=${event.tries} reason=${event.reason}`;
    case "PersistFailed":
      return `persist failed reason=${event.reason}`;
  }
}
