import type { Clock } from "@gossip/contracts";
import { err, ok, type Result } from "@gossip/stdx";
import type { TimestampClient } from "@gossip/tso-server";
import { fail, type CliError } from "../output/cli-error.ts";

/** An oracle as `--tso` names it, and the token for it. */
export interface OracleAddress {
  readonly text: string;
  readonly token: string | undefined;
}

/** What passes when an oracle is started, or elects a leader. Others, such as a wrong name or certificate, do not. */
const OUTAGES: ReadonlySet<string> = new Set([
  "NoLeader",
  "NoReachableEndpoints",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "EAI_AGAIN",
  // The socket of an oracle on this machine.
  "ENOENT",
  "an answer did not come in time",
  "no answer came in time",
]);

/** A clock that uses a timestamp oracle. Makes one request first, to check that the oracle can be reached. */
export async function openOracleClock({
  text,
  token,
}: OracleAddress): Promise<Result<{ readonly clock: Clock; close(): void }, CliError>> {
  const connected = await connectOracle(text, { env: { GOSSIP_TSO_TOKEN: token }, cwd: process.cwd() });
  if (!connected.ok) return connected;
  const { client, endpoints } = connected.value;
  const { clientClock } = await import("@gossip/tso-server");
  const first = await client.getTs();
  if (first.ok) return ok({ clock: clientClock(client), close: () => client.close() });
  client.close();
  const { error } = first;
  if (error.kind === "Rejected" && error.status === "Unauthenticated")
    return fail(
      "ClockUnreachable",
      `the timestamp oracle at ${endpoints.join(", ")} needs a token: set GOSSIP_TSO_TOKEN.`,
    );
  const where = endpoints.join(", ");
  const reason = "reason" in error ? error.reason : error.kind;
  return err({
    kind: "ClockUnreachable",
    message: `no timestamp oracle answers at ${where} (${reason}): start one with \`gossip tso serve --data tso\`, or leave --tso out.`,
    ...(OUTAGES.has(reason) ? { outage: reason, server: `the timestamp oracle at ${where}` } : {}),
  });
}

/** A client for what `--tso` names. It has not connected yet. */
export async function connectOracle(
  tso: string,
  surroundings: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<Result<{ readonly client: TimestampClient; readonly endpoints: readonly string[] }, CliError>> {
  const { TimestampClient: Client } = await import("@gossip/tso-server");
  const { readTsoFlag } = await import("@gossip/tso-server/internal");
  const options = await readTsoFlag(tso, surroundings);
  if (!options.ok) return fail("BadCommandLine", options.error.message);
  const created = Client.create(options.value);
  if (created.ok) return ok({ client: created.value, endpoints: options.value.endpoints });
  return fail(
    "BadCommandLine",
    "--tso is not a list of addresses: write HOST:PORT or tsos://HOST:PORT, with commas between several.",
  );
}
