import { OpId } from "@gossip/contracts";
import type { RunRequest } from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import { assembleNdjson, verifyNdjson } from "@gossip/worker";
import { fail, type CliError } from "../../output/cli-error.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { coordSentence } from "../report/coord-sentence.ts";
import { decodeTotalsToken } from "./item-totals.ts";
import { visitShards } from "../inspect/read-shards.ts";
import { readOverview, type RunOverview } from "../inspect/run-overview.ts";
import { sinkSentence } from "./out-file.ts";

/**
 * Finish a run whose shards are all done: assemble the results, then complete the run, in this order, so that a
 * completed run has its results. After a crash in between, the next process repeats this; several may do it at once. A
 * run with parked shards stays open and its results stay in parts, because the shards may be unparked.
 */
export async function finishRun(
  opened: OpenedStore,
  request: RunRequest,
  { out, partSize }: { readonly out: string | undefined; readonly partSize: number },
): Promise<Result<RunOverview, CliError>> {
  const record = await opened.coordinator.getRun(request);
  if (!record.ok) return err(coordSentence(record.error));
  const { status } = record.value;
  if (status === "Cancelled" || status === "Failed")
    return fail(
      "RunEnded",
      `the run was ended by another process (${status}): the same command with --again starts over.`,
    );
  const progress = await opened.coordinator.getRunProgress(request);
  if (!progress.ok) return err(coordSentence(progress.error));
  if (status !== "Active" || progress.value.active + progress.value.parked > 0) return readOverview(opened, request);
  if (out !== undefined) {
    const assembled = await assemble(opened, request, { out, partSize });
    if (!assembled.ok) {
      // Another process may have assembled the results and completed the run in the meantime.
      const now = await opened.coordinator.getRun(request);
      if (!now.ok || now.value.status !== "Done") return assembled;
    }
  }
  const completed = await opened.coordinator.completeRun({ ...request, opId: OpId.random() });
  if (completed.ok || completed.error.kind === "RunTerminal" || completed.error.kind === "WrongStatus")
    return readOverview(opened, request);
  return err(coordSentence(completed.error));
}

async function assemble(
  opened: OpenedStore,
  request: RunRequest,
  { out, partSize }: { readonly out: string; readonly partSize: number },
): Promise<Result<void, CliError>> {
  const tokens = await readTokens(opened, request);
  if (!tokens.ok) return tokens;
  const assembled = await assembleNdjson({ path: out, run: request.run, tokens: tokens.value, partSize });
  return assembled.ok ? ok(undefined) : err(sinkSentence(assembled.error, out));
}

/** Check that the results of a finished run are still as they were written. */
export async function checkResults(
  opened: OpenedStore,
  request: RunRequest,
  out: string,
): Promise<Result<void, CliError>> {
  const tokens = await readTokens(opened, request);
  if (!tokens.ok) return tokens;
  const verified = await verifyNdjson({ path: out, run: request.run, tokens: tokens.value });
  return verified.ok ? ok(undefined) : err(sinkSentence(verified.error, out));
}

/** The tokens of the inner sink, in key order. */
async function readTokens(
  opened: OpenedStore,
  { tenant, run }: RunRequest,
): Promise<Result<(Uint8Array | undefined)[], CliError>> {
  const tokens: (Uint8Array | undefined)[] = [];
  const read = await visitShards(opened, { tenant, run }, (record) => {
    if (record.status === "Split") return;
    const inner = decodeTotalsToken(record.cursor.token)?.inner;
    tokens.push(inner === undefined || inner.length === 0 ? undefined : inner);
  });
  return read.ok ? ok(tokens) : read;
}
