import { Option, type Command } from "commander";
import { ParkReason } from "@gossip/contracts";
import { err, ok } from "@gossip/stdx";
import type { Cli } from "../cli.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { formatShardId } from "../run/inspect/run-reference.ts";
import { addShardCommand, takeShard, type RunFlag } from "./chosen-run.ts";

/** `gossip park`: set a shard aside. */
export function registerPark(program: Command, cli: Cli): void {
  const description = {
    usage: "park",
    summary: "Set a shard aside, so that no worker takes it",
    details: "A worker that holds it is not disturbed: the command is refused until the lease has ended.",
    examples: ["gossip park 3", "gossip park nightly 3 --reason Poisoned"],
  };
  addShardCommand<RunFlag & { readonly reason: ParkReason }>(program, cli, description, async (chosen, flags) => {
    const session = await takeShard(chosen);
    if (!session.ok) return session;
    const parked = await session.value.park(flags.reason);
    if (!parked.ok) return err(coordSentence(parked.error));
    if (cli.console.isJson)
      cli.console.json({ run: chosen.key.run, shard: chosen.key.shard, status: "Parked", reason: flags.reason });
    else
      cli.console.note(`Parked shard ${formatShardId(chosen.key.shard)}; \`gossip unpark RUN SHARD\` brings it back.`);
    return ok("Ok");
  }).addOption(new Option("--reason <reason>", "why").choices(ParkReason.values).default("Other"));
}
