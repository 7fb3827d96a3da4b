import type { Command } from "commander";
import { OpId, RunId } from "@gossip/contracts";
import { err, ok } from "@gossip/stdx";
import { acting, addStoreCommand, withStore, type Cli, type StoreFlags } from "../cli.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { findRun } from "../run/inspect/run-reference.ts";

/** `gossip cancel`: end a run before it is done. */
export function registerCancel(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "cancel <run>",
    summary: "End a run before it is done",
    details:
      "Its workers notice within a lease, finish what they have in hand, and stop. It cannot be taken back; `gossip run --again` starts over.",
    examples: ["gossip cancel nightly", "gossip cancel 4f2a"],
  }).action(
    acting(cli, (reference: string, flags: StoreFlags) =>
      withStore(cli, flags, async (opened, tenant) => {
        const record = await findRun(opened, tenant, reference);
        if (!record.ok) return record;
        const { run } = record.value;
        const cancelled = await opened.coordinator.cancelRun({ tenant, run, opId: OpId.random() });
        if (!cancelled.ok) return err(coordSentence(cancelled.error));
        if (cli.console.isJson) cli.console.json({ run, status: "Cancelled" });
        else cli.console.note(`Cancelled run ${RunId.format(run)}.`);
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
      "Its shards are removed from the store; results in --out stay. The same `gossip run` then starts from the beginning, under another id.",
    examples: ["gossip delete nightly", "gossip cancel 4f2a && gossip delete 4f2a"],
  }).action(
    acting(cli, (reference: string, flags: StoreFlags) =>
      withStore(cli, flags, async (opened, tenant) => {
        const record = await findRun(opened, tenant, reference);
        if (!record.ok) return record;
        const { run } = record.value;
        const deleted = await opened.coordinator.deleteRun({ tenant, run });
        if (!deleted.ok) return err(coordSentence(deleted.error));
        if (cli.console.isJson) cli.console.json({ run, status: "Deleted" });
        else cli.console.note(`Deleted run ${RunId.format(run)}.`);
        return ok("Ok");
      }),
    ),
  );
}
