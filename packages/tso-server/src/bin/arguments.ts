import { parseArgs } from "node:util";
import { err, ok, type Result } from "@gossip/stdx";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { ETCD_PASSWORD_VARIABLE, parseEtcdFlags, type EtcdSettings } from "../flags/etcd-flags.ts";
import type { ServerFlags } from "../flags/server-flags.ts";
import { DEFAULT_HOST, type ListenAddress } from "../server/listener.ts";
import { DEFAULT_PORT } from "../server/oracle-server.ts";
import { DEFAULT_LIMITS, type ServerLimits } from "../server/server-limits.ts";

export const USAGE = `gossip-tso: one strictly increasing time for a fleet

  gossip-tso serve --data DIR              serve from this machine; DIR survives restarts and power loss
  gossip-tso serve --etcd URL[,URL…]       stand by with others, one of which leads
  gossip-tso init --data DIR --seed-physical-ms N
                                           start a DIR above a bound that an older oracle reached

serve takes
  --listen HOST:PORT       where clients connect            (${DEFAULT_HOST}:${DEFAULT_PORT}; open to every client that can reach it, unless you set the options below)
  --socket PATH            also on a unix socket
  --tls-cert FILE, --tls-key FILE
                           encrypt every port with this certificate and its key (PEM)
  --tls-client-ca FILE     serve only clients with a certificate of these authorities (PEM)
  --tokens FILE            serve only clients with one of these tokens: on each line a token or its SHA-256
  --http HOST:PORT | off   timestamps for curl, /healthz, /readyz, /metrics   (${DEFAULT_HOST}:${DEFAULT_PORT + 1})
  --window-ahead MS        how far past the clock a bound is made durable     (3000)
  --failover-advance MS    the same for the first bound after a takeover      (1000)
  --heartbeat S            a line about the last S seconds                    (60; 0 for none)
with --etcd also
  --advertise HOST:PORT    where clients of other nodes are sent              (the --listen address)
  --prefix NAME            oracles with different names do not meet           (gossip-tso)
  --lease-ttl S            how long after a leader's last sign of life it is replaced   (3)
  --etcd-user NAME         log in to etcd; the password is in the file below, or in ${ETCD_PASSWORD_VARIABLE}
  --etcd-password-file FILE
  --etcd-ca FILE           who may sign etcd's certificate (PEM)              (those that the system trusts)
  --etcd-cert FILE, --etcd-key FILE
                           this client's certificate and its key (PEM)
  --etcd-server-name NAME  the name in etcd's certificate                     (the host of the URL)
  The same in a URL: https://USER:PASSWORD@HOST:2379?ca=FILE&cert=FILE&key=FILE
limits of connections
  --max-connections N      most at a time                                     (${DEFAULT_LIMITS.maxConnections})
  --max-per-address N      most from one address                              (${DEFAULT_LIMITS.maxConnectionsPerAddress})
  --idle-timeout S         how long a connection may send nothing             (${DEFAULT_LIMITS.idleTimeoutMs / 1000})
`;

export interface ServeCommand {
  readonly kind: "serve";
  readonly store:
    | { readonly kind: "file"; readonly directory: string }
    | {
        readonly kind: "etcd";
        readonly settings: EtcdSettings;
        readonly prefix: string;
        readonly leaseTtlS: number;
      };
  readonly listen: { readonly host: string; readonly port: number };
  readonly socketPath: string | undefined;
  readonly http: ListenAddress | undefined;
  readonly advertise: PeerEndpoint | undefined;
  readonly security: ServerFlags;
  readonly windowAheadMs: number;
  readonly failoverAdvanceMs: number;
  readonly heartbeatS: number;
  readonly limits: Pick<ServerLimits, "maxConnections" | "maxConnectionsPerAddress" | "idleTimeoutMs">;
}

export type Command =
  | ServeCommand
  | { readonly kind: "init"; readonly directory: string; readonly seedPhysicalMs: number }
  | { readonly kind: "help" };

/** What is wrong with a command line, in a sentence. */
export type UsageError = { readonly kind: "Usage"; readonly message: string };

// prettier-ignore
const TEXT_OPTIONS = [
  "data", "etcd", "listen", "socket", "http", "advertise", "prefix", "tls-cert", "tls-key", "tls-client-ca", "tokens",
  "etcd-user", "etcd-password-file", "etcd-ca", "etcd-cert", "etcd-key", "etcd-server-name", "seed-physical-ms",
] as const;

/** The options that are whole numbers, and their defaults. */
const NUMBER_OPTIONS = {
  "window-ahead": 3000,
  "failover-advance": 1000,
  heartbeat: 60,
  "lease-ttl": 3,
  "max-connections": DEFAULT_LIMITS.maxConnections,
  "max-per-address": DEFAULT_LIMITS.maxConnectionsPerAddress,
  "idle-timeout": DEFAULT_LIMITS.idleTimeoutMs / 1000,
};

type NumberOption = keyof typeof NUMBER_OPTIONS;
type Values = { readonly [Name in (typeof TEXT_OPTIONS)[number] | NumberOption]?: string } & {
  readonly help?: boolean;
};

const OPTIONS = {
  ...Object.fromEntries(
    [...TEXT_OPTIONS, ...Object.keys(NUMBER_OPTIONS)].map((name) => [name, { type: "string" }] as const),
  ),
  help: { type: "boolean", short: "h" },
} as const;

export function parseCommand(argv: readonly string[]): Result<Command, UsageError> {
  let parsed: { readonly values: Values; readonly positionals: string[] };
  try {
    parsed = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true }) as typeof parsed;
  } catch (thrown) {
    return usage(thrown instanceof Error ? thrown.message : "the arguments make no sense");
  }
  const { values, positionals } = parsed;
  const [verb = "help", ...rest] = positionals;
  if (values.help === true || verb === "help") return ok({ kind: "help" });
  // Not repeated in a message: a misplaced argument may be a URL with a password in it.
  if (rest.length > 0) return usage("there is an argument too many");
  if (verb === "init") return parseInit(values);
  return verb === "serve" ? parseServe(values) : usage("the first argument is none of serve, init and help");
}

function parseInit(values: Values): Result<Command, UsageError> {
  if (values.data === undefined || values.data === "") return usage("init needs --data DIR");
  const seedPhysicalMs = wholeNumber(values["seed-physical-ms"] ?? "");
  if (seedPhysicalMs === undefined)
    return usage("init needs --seed-physical-ms, a whole number of milliseconds since 1970");
  return ok({ kind: "init", directory: values.data, seedPhysicalMs });
}

function parseServe(values: Values): Result<Command, UsageError> {
  const numbers = { ...NUMBER_OPTIONS };
  for (const name of Object.keys(NUMBER_OPTIONS) as NumberOption[]) {
    const given = values[name] === undefined ? NUMBER_OPTIONS[name] : wholeNumber(values[name]);
    if (given === undefined) return usage(`--${name} is a whole number`);
    numbers[name] = given;
  }
  for (const name of ["max-connections", "max-per-address", "idle-timeout"] as const)
    if (numbers[name] === 0) return usage(`--${name} is at least 1`);
  const store = parseStore(values, numbers["lease-ttl"]);
  if (!store.ok) return store;
  const listen = parseAddress(values.listen ?? `${DEFAULT_HOST}:${DEFAULT_PORT}`, "--listen");
  if (!listen.ok) return listen;
  const http =
    values.http === "off"
      ? ok(undefined)
      : parseAddress(values.http ?? `${DEFAULT_HOST}:${DEFAULT_PORT + 1}`, "--http");
  if (!http.ok) return http;
  const advertise = values.advertise === undefined ? ok(undefined) : PeerEndpoint.parse(values.advertise);
  if (!advertise.ok) return usage("--advertise is a host and a port, such as tso-1.example:50551");
  return ok({
    kind: "serve",
    store: store.value,
    listen: listen.value,
    socketPath: values.socket,
    http: http.value,
    advertise: advertise.value ?? undefined,
    security: {
      tlsCert: values["tls-cert"],
      tlsKey: values["tls-key"],
      tlsClientCa: values["tls-client-ca"],
      tokens: values.tokens,
    },
    windowAheadMs: numbers["window-ahead"],
    failoverAdvanceMs: numbers["failover-advance"],
    heartbeatS: numbers.heartbeat,
    limits: {
      maxConnections: numbers["max-connections"],
      maxConnectionsPerAddress: numbers["max-per-address"],
      idleTimeoutMs: numbers["idle-timeout"] * 1000,
    },
  });
}

function parseStore(values: Values, leaseTtlS: number): Result<ServeCommand["store"], UsageError> {
  if ((values.data === undefined) === (values.etcd === undefined))
    return usage("serve needs either --data DIR or --etcd URL");
  if (values.data !== undefined)
    return values.data === "" ? usage("--data is a folder") : ok({ kind: "file", directory: values.data });
  const settings = parseEtcdFlags({
    etcd: values.etcd!,
    etcdUser: values["etcd-user"],
    etcdPasswordFile: values["etcd-password-file"],
    etcdCa: values["etcd-ca"],
    etcdCert: values["etcd-cert"],
    etcdKey: values["etcd-key"],
    etcdServerName: values["etcd-server-name"],
  });
  if (!settings.ok) return settings;
  if (leaseTtlS < 1) return usage("--lease-ttl is at least 1");
  return ok({ kind: "etcd", settings: settings.value, prefix: values.prefix ?? "gossip-tso", leaseTtlS });
}

/** A host and a port; 0 lets the system choose one. */
function parseAddress(
  text: string,
  option: string,
): Result<{ readonly host: string; readonly port: number }, UsageError> {
  const isAnyPort = text.endsWith(":0");
  const endpoint = PeerEndpoint.parse(isAnyPort ? `${text.slice(0, -1)}1` : text);
  if (!endpoint.ok) return usage(`${option} is a host and a port, such as ${DEFAULT_HOST}:${DEFAULT_PORT}`);
  const { host, port } = PeerEndpoint.split(endpoint.value);
  return ok({ host, port: isAnyPort ? 0 : port });
}

function wholeNumber(text: string): number | undefined {
  return /^[0-9]{1,15}$/u.test(text) ? Number(text) : undefined;
}

function usage(message: string): Result<never, UsageError> {
  return err({ kind: "Usage", message });
}
