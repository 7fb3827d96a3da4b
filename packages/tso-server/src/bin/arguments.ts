import { parseArgs } from "node:util";
import { err, ok, type Result } from "@gossip/stdx";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { DEFAULT_HOST, type ListenAddress } from "../server/listener.ts";
import { DEFAULT_PORT } from "../server/oracle-server.ts";

export const USAGE = `gossip-tso: one strictly increasing time for a fleet

  gossip-tso serve --data DIR              serve from this machine; DIR survives restarts and power loss
  gossip-tso serve --etcd URL[,URL…]       stand by with others, one of which leads
  gossip-tso init --data DIR --seed-physical-ms N
                                           start a DIR above a bound that an older oracle reached

serve takes
  --listen HOST:PORT       where clients connect            (${DEFAULT_HOST}:${DEFAULT_PORT}; no passwords: mind who can reach it)
  --socket PATH            also on a unix socket
  --http HOST:PORT | off   timestamps for curl, /healthz, /readyz, /metrics   (${DEFAULT_HOST}:${DEFAULT_PORT + 1})
  --window-ahead MS        how far past the clock a bound is made durable     (3000)
  --failover-advance MS    the same for the first bound after a takeover      (1000)
  --heartbeat S            a line about the last S seconds                    (60; 0 for none)
with --etcd also
  --advertise HOST:PORT    where clients of other nodes are sent              (the --listen address)
  --prefix NAME            oracles with different names do not meet           (gossip-tso)
  --lease-ttl S            how long after a leader's last sign of life it is replaced   (3)
`;

export interface ServeCommand {
  readonly kind: "serve";
  readonly store:
    | { readonly kind: "file"; readonly directory: string }
    | {
        readonly kind: "etcd";
        readonly endpoints: readonly string[];
        readonly prefix: string;
        readonly leaseTtlS: number;
      };
  readonly listen: { readonly host: string; readonly port: number };
  readonly socketPath: string | undefined;
  readonly http: ListenAddress | undefined;
  readonly advertise: PeerEndpoint | undefined;
  readonly windowAheadMs: number;
  readonly failoverAdvanceMs: number;
  readonly heartbeatS: number;
}

export type Command =
  | ServeCommand
  | { readonly kind: "init"; readonly directory: string; readonly seedPhysicalMs: number }
  | { readonly kind: "help" };

/** What is wrong with a command line, in a sentence. */
export type UsageError = { readonly kind: "Usage"; readonly message: string };

const OPTIONS = {
  data: { type: "string" },
  etcd: { type: "string" },
  listen: { type: "string" },
  socket: { type: "string" },
  http: { type: "string" },
  advertise: { type: "string" },
  prefix: { type: "string" },
  "lease-ttl": { type: "string" },
  "window-ahead": { type: "string" },
  "failover-advance": { type: "string" },
  heartbeat: { type: "string" },
  "seed-physical-ms": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

type Values = {
  readonly [Name in keyof typeof OPTIONS]?: (typeof OPTIONS)[Name]["type"] extends "boolean" ? boolean : string;
};

export function parseCommand(argv: readonly string[]): Result<Command, UsageError> {
  let parsed: { values: Values; positionals: string[] };
  try {
    parsed = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (thrown) {
    return usage(thrown instanceof Error ? thrown.message : "the arguments make no sense");
  }
  const { values, positionals } = parsed;
  const [verb = "help", ...rest] = positionals;
  if (values.help === true || verb === "help") return ok({ kind: "help" });
  if (rest.length > 0) return usage(`"${rest[0]!}" is one argument too many`);
  if (verb === "init") return parseInit(values);
  return verb === "serve" ? parseServe(values) : usage(`"${verb}" is none of serve, init and help`);
}

function parseInit(values: Values): Result<Command, UsageError> {
  if (values.data === undefined || values.data === "") return usage("init needs --data DIR");
  const seedPhysicalMs = wholeNumber(values["seed-physical-ms"] ?? "");
  if (seedPhysicalMs === undefined)
    return usage("init needs --seed-physical-ms, a whole number of milliseconds since 1970");
  return ok({ kind: "init", directory: values.data, seedPhysicalMs });
}

function parseServe(values: Values): Result<Command, UsageError> {
  const numbers: Record<string, number> = {};
  for (const [name, fallback] of Object.entries({
    "window-ahead": 3000,
    "failover-advance": 1000,
    heartbeat: 60,
    "lease-ttl": 3,
  })) {
    const given = wholeNumber(values[name as keyof Values] ?? String(fallback));
    if (given === undefined) return usage(`--${name} is a whole number`);
    numbers[name] = given;
  }
  const store = parseStore(values, numbers["lease-ttl"]!);
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
    windowAheadMs: numbers["window-ahead"]!,
    failoverAdvanceMs: numbers["failover-advance"]!,
    heartbeatS: numbers["heartbeat"]!,
  });
}

function parseStore(values: Values, leaseTtlS: number): Result<ServeCommand["store"], UsageError> {
  if ((values.data === undefined) === (values.etcd === undefined))
    return usage("serve needs either --data DIR or --etcd URL");
  if (values.data !== undefined)
    return values.data === "" ? usage("--data is a folder") : ok({ kind: "file", directory: values.data });
  const endpoints = values.etcd!.split(",");
  for (const endpoint of endpoints) {
    if (!URL.canParse(endpoint) || !/^https?:$/u.test(new URL(endpoint).protocol))
      return usage("--etcd is one or more URLs such as http://127.0.0.1:2379");
  }
  if (leaseTtlS < 1) return usage("--lease-ttl is at least 1");
  return ok({ kind: "etcd", endpoints, prefix: values.prefix ?? "gossip-tso", leaseTtlS });
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

function wholeNumber(text: string | boolean): number | undefined {
  return typeof text === "string" && /^[0-9]{1,15}$/u.test(text) ? Number(text) : undefined;
}

function usage(message: string): Result<never, UsageError> {
  return err({ kind: "Usage", message });
}
