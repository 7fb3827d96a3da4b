import type { Clock } from "@gossip/contracts";
import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";

/** A clock that uses a timestamp oracle. Makes one request first, to check that the oracle can be reached. */
export async function openOracleClock(
  endpoints: readonly string[],
): Promise<Result<{ readonly clock: Clock; close(): void }, CliError>> {
  const { clientClock, TimestampClient } = await import("@gossip/tso-server");
  const created = TimestampClient.create({ endpoints });
  if (!created.ok)
    return fail("BadCommandLine", "--tso is not a list of addresses: write HOST:PORT, with commas between several.");
  const client = created.value;
  const first = await client.getTs();
  if (first.ok) return ok({ clock: clientClock(client), close: () => client.close() });
  client.close();
  return fail(
    "ClockUnreachable",
    `no timestamp oracle answers at ${endpoints.join(", ")} (${first.error.kind}): start one with \`gossip tso serve --data tso\`, or leave --tso out.`,
  );
}
