import type { Command } from "commander";
import { RunId } from "@gossip/contracts";
import type { InfraError } from "@gossip/coordination-errors";
import { fsck, isRepairable, repair, type CountScope, type FsckFinding } from "@gossip/coordination-fsck";
import { err, ok } from "@gossip/stdx";
import { acting, addStoreCommand, withStore, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { countOf, formatCount } from "../output/number-words.ts";
import { infraSentence } from "../run/report/coord-sentence.ts";
import { formatShardId } from "../run/inspect/run-reference.ts";
import type { OpenedStore } from "../store-url/opened-store.ts";

/** `gossip fsck`: does a store contradict itself? */
export function registerFsck(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "fsck",
    summary: "Check a whole store, and rebuild what can be rebuilt",
    details:
      "Reads every record, looks it up by its key, and compares the lineage and coverage of shards, indexes, counts, and the census of each run (which shards it has). On etcd it sees only the records, and not all at one moment: stop the workers first, or a change may look like a contradiction.",
    examples: ["gossip fsck", "gossip fsck --store /var/lib/gossip --repair"],
  })
    .option("--repair", "make indexes and counts what the records say")
    .action(
      acting(cli, (flags: StoreFlags & { readonly repair?: boolean }) =>
        withStore(cli, flags, (opened) => check(cli, opened, flags.repair === true), { verify: true }),
      ),
    );
}

async function check(cli: Cli, { direct, description }: OpenedStore, mayRepair: boolean): Promise<CommandResult> {
  const { console } = cli;
  if (direct === undefined)
    return fail(
      "NotAllowed",
      "fsck reads the records of a store, which a service does not show: run it on the service's machine, with the --store of `gossip serve`.",
    );
  const { fsckSource } = direct;
  if (mayRepair) {
    const rebuilt = await repair(fsckSource);
    if (!rebuilt.ok) return err(checkSentence(rebuilt.error));
    const { addedEntries, removedEntries, correctedCounts } = rebuilt.value;
    if (console.isJson) console.json({ kind: "repaired", ...rebuilt.value });
    else
      console.line(
        `Rebuilt: ${countOf(addedEntries, "entry", "entries")} added, ${formatCount(removedEntries)} removed, ${countOf(correctedCounts, "count")} corrected.`,
      );
  }
  const report = await fsck(fsckSource);
  if (!report.ok) return err(checkSentence(report.error));
  const { findings, findingCount, tenantCount, runCount, shardCount, deletedRunCount } = report.value;
  for (const finding of findings) {
    if (console.isJson)
      console.json({
        ...finding,
        finding: finding.kind,
        kind: "finding",
        isRepairable: isRepairable(finding),
        message: sentenceOf(finding),
      });
    else console.line(sentenceOf(finding));
  }
  if (console.isJson)
    console.json({ kind: "checked", tenantCount, runCount, shardCount, deletedRunCount, findingCount });
  else {
    const found =
      findingCount === 0
        ? "in order"
        : `${countOf(findingCount, "contradiction")}${findings.some(isRepairable) && !mayRepair ? "; --repair rebuilds indexes and counts" : ""}`;
    console.line(`${description}: ${countOf(runCount, "run")}, ${countOf(shardCount, "shard")}: ${found}.`);
  }
  return ok(findingCount === 0 ? "Ok" : "Unhealthy");
}

/** A store that is too damaged to be checked. Other commands advise to run this one. */
function checkSentence(error: InfraError): CliError {
  if (error.kind !== "Corruption") return infraSentence(error);
  return {
    kind: "StoreDamaged",
    message: `the store is too damaged to be checked (${error.message}): check the disk, then put a backup in its place, or start over with an empty store.`,
  };
}

function sentenceOf(finding: FsckFinding): string {
  const run = finding.run === undefined ? "" : `run ${RunId.format(finding.run)}`;
  switch (finding.kind) {
    case "UnreadableRecord":
    case "RecordFault":
      return `${run}${finding.shard === undefined ? "" : `, shard ${formatShardId(finding.shard)}`}: ${finding.detail}`;
    case "ShardsWithoutRun":
      return `${run}: ${countOf(finding.shardCount, "shard")} without a run`;
    case "Lineage":
      return `${run}, shard ${formatShardId(finding.shard)}: ${finding.detail}`;
    case "Coverage":
      return `${run}, shard ${formatShardId(finding.shard)}: ${finding.fault} in the ranges`;
    case "LostProgress":
      return `${run}, shard ${formatShardId(finding.shard)}: what took over has not come as far`;
    case "MissingEntry":
      return `${run}, shard ${formatShardId(finding.shard)}: missing from the index ${finding.index}`;
    case "StrayEntry":
      return `${run}: the index ${finding.index} has an entry that belongs to nothing`;
    case "NoteFault":
      return `${run}: a note (${finding.space ?? "of an unknown kind"}): ${finding.detail}`;
    case "NotesWithoutRun":
      return `${run}: ${countOf(finding.noteCount, "note exists", "notes exist")} and the run does not`;
    case "WrongCensus":
      return `${run}: ${countOf(finding.counted, "shard is", "shards are")} stored, and not the ${finding.stored} that were counted when they were made; restore a backup, or delete the run`;
    case "NotFoundByKey": {
      const what = finding.index === undefined ? "its record" : `its entry in the index ${finding.index}`;
      const shard = finding.shard === undefined ? "" : `, shard ${formatShardId(finding.shard)}`;
      return `${run}${shard}: ${what} cannot be looked up: the store is damaged; restore a backup`;
    }
    case "WrongCount":
      return `${run === "" ? finding.scope : run}: ${finding.stored} ${inStatus(finding.scope)}shards are counted, ${finding.counted} are there`;
  }
}

/** The status that a count is limited to, if it is. */
function inStatus(scope: CountScope): string {
  return scope === "Run" || scope === "Tenant" || scope === "Total" ? "" : `${scope.toLowerCase()} `;
}
