import type { Command } from "commander";
import { OpId, RunId, WorkerId, type LogicalTime } from "@gossip/contracts";
import { isLeasedAt, shardRecordJson, type ParkedDetail, type ShardRecord } from "@gossip/coordination";
import { decodeHint } from "@gossip/frontier";
import { err, ok } from "@gossip/stdx";
import type { Cli, CommandResult } from "../cli.ts";
import { showEnd, showStart } from "../keys/show-bound.ts";
import { fail } from "../output/cli-error.ts";
import { countOf, formatCount, formatDuration } from "../output/number-words.ts";
import { printableText } from "../output/printable.ts";
import { formatTime } from "../output/time-text.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { openKeyShower, type ShowKey } from "../run/inspect/key-shower.ts";
import { rowOf } from "../run/inspect/read-shards.ts";
import { parkedJson, parkedText } from "../run/inspect/parked-text.ts";
import { readWorkerNames } from "../run/inspect/read-notes.ts";
import { readSettings } from "../run/inspect/run-overview.ts";
import { formatShardId } from "../run/inspect/run-reference.ts";
import { addShardCommand, type ChosenShard } from "./chosen-run.ts";
import { rowJson } from "./shards.ts";

/** `gossip show`: everything about one shard. */
export function registerShow(program: Command, cli: Cli): void {
  const description = {
    usage: "show",
    summary: "Show everything about one shard",
    details: "Its range, its cursor, its lease, what it was split into, and its last operations.",
    examples: ["gossip show 3", "gossip show nightly 8f3a90c1d2e4b765 --json"],
  };
  addShardCommand(program, cli, description, (chosen) => showShard(cli, chosen));
}

async function showShard(cli: Cli, { opened, tenant, record, request, key }: ChosenShard): Promise<CommandResult> {
  const read = await opened.coordinator.getShard({ tenant, key });
  if (!read.ok) return err(coordSentence(read.error));
  if (read.value === undefined)
    return fail(
      "ShardNotFound",
      `run ${RunId.format(key.run)} has no shard ${formatShardId(key.shard)}: \`gossip shards RUN\` lists what there is.`,
    );
  const now = await opened.clock.now();
  const settings = await readSettings(opened, record);
  if (!settings.ok) return settings;
  const show = await openKeyShower(opened, request, settings.value?.source);
  const names = await readWorkerNames(opened, request);
  if (!names.ok) return names;
  const detail = await opened.coordinator.getParkedDetail({ tenant, key });
  if (!detail.ok) return err(coordSentence(detail.error));
  const owner = read.value.lease?.owner;
  const holder = owner === undefined ? undefined : (names.value.get(owner) ?? WorkerId.format(owner));
  if (cli.console.isJson)
    cli.console.json({
      ...rowJson(rowOf(read.value, now)),
      holder,
      parked: detail.value === undefined ? undefined : parkedJson(detail.value, show),
      record: shardRecordJson.toJson(read.value),
    });
  else cli.console.lines(linesOf(read.value, { now, show, holder, detail: detail.value }));
  return ok("Ok");
}

interface Shown {
  readonly now: LogicalTime;
  readonly show: ShowKey;
  /** The name of the worker that has the lease. */
  readonly holder: string | undefined;
  readonly detail: ParkedDetail | undefined;
}

function linesOf(record: ShardRecord, { now, show, holder, detail }: Shown): string[] {
  const row = rowOf(record, now);
  const hint = decodeHint(record.spec);
  const { lease, opLog, spawned, parent } = record;
  const held =
    lease === undefined
      ? "no worker"
      : `${printableText(holder ?? "")}, ${isLeasedAt(record, now) ? `for another ${formatDuration(Number(lease.deadline - now))}` : `lapsed at ${formatTime(lease.deadline)}`}`;
  return [
    `shard    ${formatShardId(record.shard)} of run ${RunId.format(record.run)}`,
    `status   ${record.status}${record.parkReason === undefined ? "" : `: ${record.parkReason}`}`,
    ...(detail === undefined ? [] : [`parked   ${parkedText(detail, show)}`]),
    `from     ${showStart(record.spec.keyRangeStart, show) || "the beginning"}`,
    `to       ${showEnd(record.spec.keyRangeEnd, show) || "the end"}`,
    `at       ${show(record.cursor.lastKey) || "nothing done yet"}`,
    `items    ${formatCount(row.totals.items)} done, ${formatCount(row.totals.failed)} of them failed, ${formatCount(row.totals.unreadable)} could not be read`,
    `held by  ${held}`,
    `fence    ${record.fenceEpoch}, taken ${countOf(row.acquireCount, "time")}, ${row.attempts} since it moved`,
    `hint     ${hint.ok ? hint.value.kind : "none that can be read"}`,
    ...(parent === undefined ? [] : [`parent   ${formatShardId(parent)}`]),
    ...(spawned.length === 0 ? [] : [`became   ${spawned.map(formatShardId).join(" ")}`]),
    ...opLog.map(({ executedAt, kind, opId }) => `log      ${formatTime(executedAt)}  ${kind}  ${OpId.format(opId)}`),
  ];
}
