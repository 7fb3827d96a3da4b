import { readFileSync } from "node:fs";
import type { GossipClient, GossipClientOptions } from "@gossip/client";
import { ok, type Result } from "@gossip/stdx";
import { Timestamp } from "@gossip/tso";
import { fail, type CliError } from "../output/cli-error.ts";
import type { OpenedStore } from "./opened-store.ts";
import type { ServiceAddress, TlsPaths } from "./service-address.ts";
import { ServiceClock } from "./service-clock.ts";
import { refusedSentence, unreachableSentence } from "./service-sentences.ts";

/** How long to try to reach a service when a command starts. */
const FIRST_PATIENCE_MS = 3_000;

/** Connect to a service. Makes one request, to learn its time and whether it accepts the token. */
export async function openService(address: ServiceAddress, where: string): Promise<Result<OpenedStore, CliError>> {
  const tls = readServiceTls(address.files);
  if (!tls.ok) return tls;
  const { GossipClient: Client } = await import("@gossip/client");
  const options: GossipClientOptions = { url: address.url, token: address.token, tls: tls.value };
  const first = await firstTime(new Client({ ...options, patienceMs: FIRST_PATIENCE_MS }), where);
  if (!first.ok) return first;
  const client = new Client(options);
  const clock = new ServiceClock({
    firstMs: first.value,
    ask: async () => {
      const granted = await client.timestamp();
      return granted.ok ? physicalMs(granted.value) : undefined;
    },
  });
  const opened: OpenedStore = {
    address,
    description: where,
    coordinator: client,
    clock,
    direct: undefined,
    observe: (onCall) => {
      client.onRequest(onCall);
      return opened;
    },
    close: async () => client.close(),
  };
  return ok(opened);
}

async function firstTime(client: GossipClient, where: string): Promise<Result<number, CliError>> {
  try {
    const granted = await client.timestamp();
    return granted.ok ? ok(physicalMs(granted.value)) : unreachableSentence(granted.error.reason, where);
  } catch (thrown) {
    const refused = refusedSentence(thrown, where);
    if (refused === undefined) throw thrown;
    return fail(refused.kind, refused.message);
  } finally {
    client.close();
  }
}

function physicalMs(timestamp: bigint): number {
  return Timestamp.physicalMs(Timestamp.fromRaw(timestamp));
}

/** Read the certificates that an address names. */
export function readServiceTls(files: TlsPaths): Result<GossipClientOptions["tls"], CliError> {
  const named = Object.entries(files) as [keyof TlsPaths, string][];
  if (named.length === 0) return ok(undefined);
  try {
    return ok(Object.fromEntries(named.map(([name, file]) => [name, readFileSync(file, "utf8")])));
  } catch (thrown) {
    const { code = "UNKNOWN", path = "" } = thrown as NodeJS.ErrnoException;
    return fail("BadCommandLine", `the certificate or key ${path} cannot be read (${code}): correct --store or --ca.`);
  }
}
