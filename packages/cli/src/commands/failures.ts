import type { Command } from "commander";
import type { ItemFailure } from "@gossip/coordination";
import { WorkerId } from "@gossip/contracts";
import { ok } from "@gossip/stdx";
import { acting, addStoreCommand, type Cli, type StoreFlags } from "../cli.ts";
import { keyCodecOf, showKey, type KeyCodec } from "@gossip/insight";
import { countOf } from "../output/number-words.ts";
import { printableText } from "../output/printable.ts";
import { formatTime, timeJson } from "../output/time-text.ts";
import { readKeyKinds } from "../run/inspect/key-kinds.ts";
import { readSettings } from "../run/inspect/run-overview.ts";
import { failuresLeft } from "../run/retry/failures-left.ts";
import { sourceNameOf } from "../run/retry/range-to-retry.ts";
import { findDoneRetries } from "../run/retry/retries.ts";
import { withFailedRun } from "./chosen-run.ts";

/** `gossip failures`: the items of a run that failed. */
export function registerFailures(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "failures [run]",
    summary: "List the items of a run that failed or could not be read",
    details:
      "Each with the time, the attempts, the worker and the error. An item that a later `gossip retry` finishes is no longer listed. A folder that could not be read is one entry; once a retry has read it, what failed below it is listed instead.",
    examples: ["gossip failures", "gossip failures nightly --json"],
  }).action(
    acting(cli, (reference: string | undefined, flags: StoreFlags) =>
      withFailedRun(cli, flags, reference, async ({ opened, record, request }) => {
        const settings = await readSettings(opened, record);
        if (!settings.ok) return settings;
        const codec = keyCodecOf(settings.value?.source);
        const describe = await readKeyKinds(opened, request);
        const doneRetries = await findDoneRetries(opened, request);
        if (!doneRetries.ok) return doneRetries;
        const sourceName = sourceNameOf(settings.value?.source);
        let count = 0;
        for await (const page of failuresLeft({ opened, request, sourceName, doneRetries: doneRetries.value })) {
          if (!page.ok) return page;
          count += page.value.length;
          if (cli.console.isJson)
            for (const { failure } of page.value) cli.console.json(failureJson(failure, codec, describe));
          else cli.console.lines(page.value.map(({ failure }) => failureLine(failure, codec, describe)));
        }
        if (cli.console.isJson) return ok("Ok");
        const failed = `${countOf(count, "item")} failed`;
        const { failedIn } = settings.value?.selection ?? {};
        if (count === 0) cli.console.note("No items failed.");
        else if (failedIn === undefined)
          cli.console.note(`${failed}: \`gossip retry RUN\` tries ${count === 1 ? "it" : "them"} again.`);
        else cli.console.note(`${failed} in this retry: \`gossip failures ${failedIn}\` lists what still fails.`);
        return ok("Ok");
      }),
    ),
  );
}

/** Shows the columns of a key whose encoding does not. */
type DescribeKey = ((key: Uint8Array) => string) | undefined;

function failureLine(failure: ItemFailure, codec: KeyCodec, describe: DescribeKey): string {
  const { at, key, attempts, reason, error, worker, workerName } = failure;
  const by = printableText(workerName ?? WorkerId.format(worker));
  const columns = describe === undefined ? "" : ` ${printableText(describe(key))}`;
  return `${formatTime(at)}  ${showKey(key, codec)}${columns}  ${printableText(error)}  (${reason}, ${countOf(attempts, "attempt")}, ${by})`;
}

function failureJson({ at, key, ...rest }: ItemFailure, codec: KeyCodec, describe: DescribeKey): object {
  return { item: showKey(key, codec), columns: describe?.(key), key, at: timeJson(at), ...rest };
}
