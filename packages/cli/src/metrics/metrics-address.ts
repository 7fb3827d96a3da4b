import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";
import { printableText } from "../output/printable.ts";

export interface MetricsAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

const LOOPBACK = "127.0.0.1";
const MAX_PORT = 65_535;

/** Parse `--metrics`: `PORT`, `HOST:PORT` or `[IPV6]:PORT`. A port alone is on the loopback interface. */
export function parseMetricsAddress(text: string): Result<MetricsAddress, CliError> {
  const [, ipv6, name, digits] = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits ?? NaN);
  if (port <= MAX_PORT) return ok({ host: ipv6 ?? name ?? LOOPBACK, port });
  return fail(
    "BadCommandLine",
    `--metrics "${printableText(text)}" is not an address: write HOST:PORT, or a port alone for this machine only.`,
  );
}
