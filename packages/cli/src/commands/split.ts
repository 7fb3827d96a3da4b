import type { Command } from "commander";
import { MAX_SPLIT_CHILDREN } from "@gossip/contracts";
import { evenSplitPoints, keySuccessor, planHintedSplitReplace } from "@gossip/frontier";
import type { WorkerSession } from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import type { Cli } from "../cli.ts";
import { parseKey } from "../keys/key-text.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { formatShardId } from "../run/inspect/run-reference.ts";
import { readCount } from "./number-options.ts";
import { addShardCommand, takeShard, type RunFlag } from "./chosen-run.ts";

interface Flags extends RunFlag {
  readonly parts: string;
  readonly at?: readonly string[];
}

/** `gossip split`: cut a shard into several. */
export function registerSplit(program: Command, cli: Cli): void {
  const description = {
    usage: "split",
    summary: "Split a shard that no worker holds",
    details:
      "Progress is kept. Workers split shards by themselves when one is busy and another idle; use this when you know better where to cut.",
    examples: ["gossip split 3 --parts 8", "gossip split nightly 3 --at path:logs/2026/ --at path:logs/2027/"],
  };
  addShardCommand<Flags>(program, cli, description, async (chosen, flags) => {
    const session = await takeShard(chosen);
    if (!session.ok) return session;
    const points = readPoints(session.value, flags);
    const plan = points.ok ? planHintedSplitReplace(session.value.spec, session.value.cursor, points.value) : points;
    const split = plan.ok ? await session.value.splitReplace(plan.value) : undefined;
    if (split?.ok !== true) {
      // The lease was for the split only: without one, release the shard.
      void (await session.value.release());
      if (!points.ok) return points;
      if (split !== undefined) return err(coordSentence(split.error));
      return fail(
        "NotAllowed",
        "the shard cannot be cut there: the keys must lie inside its range, above what is done, in order.",
      );
    }
    const { children } = split.value.value;
    if (cli.console.isJson)
      cli.console.json({ run: chosen.key.run, shard: chosen.key.shard, status: "Split", children });
    else
      cli.console.note(
        `Split shard ${formatShardId(chosen.key.shard)} into ${children.length}: ${children.map(formatShardId).join(" ")}.`,
      );
    return ok("Ok");
  })
    .option("--parts <count>", "into so many equal parts of what is left", "2")
    .option("--at <key...>", "at these keys instead; see `gossip keys --help` for how to write them");
}

function readPoints({ spec, cursor }: WorkerSession, { parts, at }: Flags): Result<readonly Uint8Array[], CliError> {
  if (at !== undefined) {
    const points: Uint8Array[] = [];
    for (const text of at) {
      const point = parseKey(text);
      if (!point.ok) return point;
      points.push(point.value);
    }
    return ok(points);
  }
  const count = readCount("--parts", parts, { min: 2, max: MAX_SPLIT_CHILDREN });
  if (!count.ok) return count;
  const start =
    cursor.lastKey === undefined ? spec.keyRangeStart : (keySuccessor(cursor.lastKey) ?? spec.keyRangeStart);
  const points = evenSplitPoints({ start, end: spec.keyRangeEnd }, count.value);
  return points.length === 0
    ? fail("NotAllowed", "what is left of the shard is too narrow to be cut: it needs nothing.")
    : ok(points);
}
