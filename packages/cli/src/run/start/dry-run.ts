import { maskCommand } from "@gossip/insight";
import { err, ok, type Result } from "@gossip/stdx";
import { SourceReadFailed, type Item } from "@gossip/worker";
import type { Cli } from "../../cli.ts";
import { renderCommand } from "../../exec/command-template.ts";
import type { CliError } from "../../output/cli-error.ts";
import { countOf } from "../../output/number-words.ts";
import { printable, printableText } from "../../output/printable.ts";
import { shellWord } from "../../output/suggestions.ts";
import type { JobSource } from "../source/job-source.ts";
import { sourceSentence } from "../source/source-sentence.ts";
import { describeWork, shownSettings, type RunSettings } from "./run-settings.ts";

export interface DryRunOptions {
  readonly jobSource: JobSource;
  readonly settings: RunSettings;
  readonly shardCount: number;
}

/** How many items a dry run shows. */
const SHOWN_ITEMS = 10;

/** Plan the run, and print the plan and its first commands. Writes nothing and starts nothing. */
export async function dryRun(
  { console }: Cli,
  { jobSource, settings, shardCount }: DryRunOptions,
): Promise<Result<"Ok", CliError>> {
  const { source } = jobSource;
  const planned = await source.plan({ shardCount });
  if (!planned.ok) return err(sourceSentence(planned.error));
  const items: Item[] = [];
  const [first] = planned.value;
  const range = { start: first!.keyRangeStart, end: planned.value.at(-1)!.keyRangeEnd };
  const limit = Math.min(SHOWN_ITEMS, settings.selection.limit ?? SHOWN_ITEMS);
  try {
    for await (const batch of source.read({ range, signal: new AbortController().signal })) {
      items.push(...batch.items.slice(0, limit - items.length));
      if (items.length === limit) break;
    }
  } catch (thrown) {
    if (thrown instanceof SourceReadFailed) return err(sourceSentence(thrown.error));
    throw thrown;
  }
  if (console.isJson) {
    const { fingerprint: _, ...shown } = { fingerprint: "", ...shownSettings(settings) };
    console.json({ kind: "plan", shards: planned.value.length, ...shown });
    for (const item of items)
      console.json({ kind: "item", ...jobSource.fieldsOf(item), command: commandFor(item, jobSource, settings) });
    return ok("Ok");
  }
  console.note(
    `Dry run, nothing is started: ${countOf(planned.value.length, "shard")} of ${printableText(describeWork(settings))}. ${items.length === 0 ? "There are no items." : settings.pipe === undefined ? "The first commands:" : "The first items:"}`,
  );
  for (const item of items) console.line(commandFor(item, jobSource, settings));
  return ok("Ok");
}

/** The command for an item, as a shell takes it. For a process, its line without the context. For a module, the item alone. */
function commandFor(item: Item, jobSource: JobSource, { exec, pipe }: RunSettings): string {
  const { argumentOf, fieldsOf, itemJson = fieldsOf } = jobSource;
  if (pipe !== undefined) return JSON.stringify({ item: itemJson(item) });
  const argument = argumentOf(item);
  const shown = printable(argument);
  if (exec === undefined) return shown;
  return maskCommand(renderCommand(exec, shellWord(Buffer.from(argument).toString("utf8"))) ?? `${exec} # ${shown}`);
}
