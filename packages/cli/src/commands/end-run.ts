import type { Command } from "commander";
import { OpId, RunId, RunStatus } from "@gossip/contracts";
import { err, ok } from "@gossip/stdx";
import { acting, addStoreCommand, type Cli, type StoreFlags } from "../cli.ts";
import { fail } from "../output/cli-error.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { withRun } from "./chosen-run.ts";

/** `gossip cancel`: end a run before it is done. */
export function registerCancel(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "cancel <run>",
    summary: "End a run before it is done",
    details:
      "Its workers notice within a lease, finish the items that they have started, and stop. A canceled run cannot be resumed. To start over, run the command that started it with --again.",
    examples: ["gossip cancel nightly", "gossip cancel 4f2a"],
  }).action(
    acting(cli, (reference: string, flags: StoreFlags) =>
      withRun(cli, flags, reference, async ({ opened, record, request }) => {
        const { run, status } = record;
        if (RunStatus.isTerminal(status))
          return fail("RunEnded", `run ${RunId.format(run)} has ended (${status}): there is nothing to cancel.`);
        const canceled = await opened.coordinator.cancelRun({ ...request, opId: OpId.random() });
        if (!canceled.ok) return err(coordSentence(canceled.error));
        if (cli.console.isJson) cli.console.json({ run, status: "Cancelled" });
        else cli.console.note(`Canceled run ${RunId.format(run)}.`);
        return ok("Ok");
      }),
    ),
  );
}

/** `gossip delete`: forget a run that has ended. */
export function registerDelete(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "delete <run>",
    summary: "Forget a run that has ended",
    details:
      "Its shards are removed from the store; results in --out stay. The command that started it then starts from the beginning, under another id.",
    examples: ["gossip delete nightly", "gossip cancel 4f2a && gossip delete 4f2a"],
  }).action(
    acting(cli, (reference: string, flags: StoreFlags) =>
      withRun(cli, flags, reference, async ({ opened, request }) => {
        const { run } = request;
        const deleted = await opened.coordinator.deleteRun(request);
        if (!deleted.ok) return err(coordSentence(deleted.error));
        if (cli.console.isJson) cli.console.json({ run, status: "Deleted" });
        else cli.console.note(`Deleted run ${RunId.format(run)}.`);
        return ok("Ok");
      }),
    ),
  );
}
