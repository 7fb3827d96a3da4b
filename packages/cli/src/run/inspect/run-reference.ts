import { RunId, RunStatus, ShardId, type TenantId } from "@gossip/contracts";
import type { RunRecord } from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printableText } from "../../output/printable.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { coordSentence } from "../report/coord-sentence.ts";
import { readSettings } from "./run-overview.ts";

const PAGE_SIZE = 500;
/** Fewer digits would match too many runs. */
const LEAST_DIGITS = 4;

/** All runs of a tenant, by id. */
export async function listRuns(opened: OpenedStore, tenant: TenantId): Promise<Result<RunRecord[], CliError>> {
  const runs: RunRecord[] = [];
  let after: RunId | undefined;
  do {
    const page = await opened.coordinator.listRuns({ tenant, limit: PAGE_SIZE, after });
    if (!page.ok) return err(coordSentence(page.error));
    runs.push(...page.value.items);
    after = page.value.next;
  } while (after !== undefined);
  return ok(runs);
}

export interface RunReference {
  readonly tenant: TenantId;
  /** As the user wrote it. */
  readonly reference: string | undefined;
  /** Without a reference, never choose a retry. */
  readonly isRetryIgnored?: boolean;
}

/**
 * Find the run that the user means: by its id, the first digits of its id, or its name. Without a reference, the only one
 * that has not ended, or else the only one that is not a retry of another.
 */
export async function findRun(
  opened: OpenedStore,
  { tenant, reference, isRetryIgnored = false }: RunReference,
): Promise<Result<RunRecord, CliError>> {
  const listed = await listRuns(opened, tenant);
  if (!listed.ok) return listed;
  const runs = listed.value;
  if (reference === undefined) return onlyRun(opened, runs, isRetryIgnored);
  const byId = runs.filter(({ run }) => isBeginningOf(reference, RunId.format(run)));
  if (byId.length === 1) return ok(byId[0]!);
  const byName: RunRecord[] = [];
  for (const record of runs) {
    const settings = await readSettings(opened, record);
    if (!settings.ok) return settings;
    if (settings.value?.name === reference) byName.push(record);
  }
  // Several runs of one name: `--again` created the later ones.
  const [latest] = byName.toSorted((a, b) => Number(b.createdAt - a.createdAt));
  if (latest !== undefined) return ok(latest);
  const shown = printableText(reference);
  if (byId.length > 1)
    return fail(
      "RunNotFound",
      `${byId.length} runs begin with "${shown}": give more digits; \`gossip runs\` lists them.`,
    );
  return fail("RunNotFound", `${opened.description} has no run "${shown}": \`gossip runs\` lists what there is.`);
}

async function onlyRun(
  opened: OpenedStore,
  runs: readonly RunRecord[],
  isRetryIgnored: boolean,
): Promise<Result<RunRecord, CliError>> {
  const where = opened.description;
  const open = runs.filter(({ status }) => !RunStatus.isTerminal(status));
  if (runs.length === 1) return ok(runs[0]!);
  if (open.length === 1 && !isRetryIgnored) return ok(open[0]!);
  const own: RunRecord[] = [];
  for (const record of runs) {
    const settings = await readSettings(opened, record);
    if (!settings.ok) return settings;
    if (settings.value?.selection.failedIn === undefined) own.push(record);
  }
  const [onlyOpen, anotherOpen] = own.filter((record) => open.includes(record));
  if (onlyOpen !== undefined && anotherOpen === undefined) return ok(onlyOpen);
  if (own.length === 1) return ok(own[0]!);
  if (runs.length === 0)
    return fail("RunNotFound", `${where} has no runs: start one first; \`gossip run --help\` has examples.`);
  return fail("RunNotFound", `${where} has ${runs.length} runs: name one; \`gossip runs\` lists them.`);
}

function isBeginningOf(reference: string, id: string): boolean {
  const digits = reference.toLowerCase();
  return digits.length >= LEAST_DIGITS && /^[0-9a-f]+$/.test(digits) && id.startsWith(digits);
}

/** Parse a shard id: all 16 digits, or a number. */
export function parseShardId(text: string): Result<ShardId, CliError> {
  const digits = text.toLowerCase();
  if (/^[0-9a-f]{16}$/.test(digits)) return ok(ShardId.fromRaw(BigInt(`0x${digits}`)));
  if (/^[0-9]{1,15}$/.test(digits)) return ok(ShardId.fromRaw(BigInt(digits)));
  return fail(
    "BadCommandLine",
    `"${printableText(text)}" is not a shard id: write its 16 hexadecimal digits as a list of shards shows them, or a number.`,
  );
}

/** Short for an initial shard, all digits for one that a split created. */
export function formatShardId(shard: ShardId): string {
  return ShardId.isDerived(shard) ? ShardId.format(shard) : String(shard);
}
