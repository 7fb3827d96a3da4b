import { RunId, RunStatus, type TenantId } from "@gossip/contracts";
import type { RunConfigInput, RunRecord, RunRequest } from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import { startRun, type Source, type StartRunError } from "@gossip/worker";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printableText } from "../../output/printable.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { coordSentence } from "../report/coord-sentence.ts";
import { readSettings } from "../inspect/run-overview.ts";
import { checkOutIsFree } from "../results/out-file.ts";
import type { JobSource } from "../source/job-source.ts";
import { sourceSentence } from "../source/source-sentence.ts";
import { selectionText } from "../source/selection.ts";
import { encodeSettings, fingerprintOf, runIdOf, shownSettings, type RunSettings } from "./run-settings.ts";

export interface StartOptions {
  readonly opened: OpenedStore;
  readonly tenant: TenantId;
  readonly settings: RunSettings;
  readonly source: Source;
  /** Stores the items of the run, or finds them again. */
  readonly prepare?: JobSource["prepare"];
  readonly config: RunConfigInput;
  readonly shardCount: number;
  /** Leave a run with these settings that has ended unchanged, and start another. */
  readonly again: boolean;
  /** Replace the file of `--out` even if another run wrote it. */
  readonly overwrite: boolean;
  readonly signal: AbortSignal;
}

export interface Started {
  readonly kind: "Created" | "Joined";
  readonly record: RunRecord;
  readonly request: RunRequest;
}

/** The most runs with the same name or settings. */
const MAX_GENERATIONS = 100_000;

/** Find the run with these settings, or start it. */
export async function startOrJoin(options: StartOptions): Promise<Result<Started | "Aborted", CliError>> {
  const found = await findGeneration(options);
  if (!found.ok) return found;
  const { request, record, isFirst } = found.value;
  if (record === undefined && isFirst && !options.overwrite) {
    const free = await checkFree(options, request);
    if (!free.ok) return free;
  }
  const prepared = await prepareList(options, record);
  if (!prepared.ok) return prepared;
  if (prepared.value === "Aborted") return ok("Aborted");
  const { opened, settings, source, config, shardCount, signal } = options;
  const connectorExtra = encodeSettings({ ...settings, list: prepared.value });
  // A run keeps its configuration, whatever a process that joins would choose.
  const started = await startRun({
    coordinator: opened.coordinator,
    run: request,
    source,
    config: record?.config ?? config,
    shardCount,
    connectorExtra,
    signal,
  });
  if (started.ok) return ok({ ...started.value, request });
  if (started.error.kind === "Aborted") return ok("Aborted");
  // Another process started it in the meantime, with another lease duration.
  if (started.error.kind === "ConfigMismatch" && record === undefined) return startOrJoin(options);
  // The same, with another list.
  if (started.error.kind === "SettingsMismatch" && prepared.value !== undefined && record === undefined)
    return startOrJoin(options);
  return err(startSentence(started.error, settings));
}

/** The list of the run, which is stored if the run is new. */
async function prepareList(
  { opened, settings, prepare, signal }: StartOptions,
  record: RunRecord | undefined,
): Promise<Result<string | undefined, CliError>> {
  if (prepare === undefined) return ok(settings.list);
  if (record === undefined || record.status === "Initializing") return prepare({ list: settings.list, signal });
  const stored = await readSettings(opened, record);
  if (!stored.ok) return stored;
  const list = stored.value?.list;
  // A run that has ended reads nothing.
  return RunStatus.isTerminal(record.status) ? ok(list) : prepare({ list, signal });
}

/** Refuse a first run with these settings if something else is where its results go. */
async function checkFree({ opened, settings }: StartOptions, request: RunRequest): Promise<Result<void, CliError>> {
  const free = settings.out === undefined ? ok() : await checkOutIsFree(settings.out);
  if (free.ok) return free;
  // Another process may have started this run in the meantime, and even finished it.
  const now = await opened.coordinator.lookUpRun(request);
  return now.ok && now.value.kind !== "Missing" ? ok() : free;
}

interface Generation {
  readonly request: RunRequest;
  /** No run with this name or these settings came before it. */
  readonly isFirst: boolean;
  readonly record: RunRecord | undefined;
}

/** The run with these settings that has not ended, otherwise the last one that has, or a new one with `--again`. */
async function findGeneration(options: StartOptions): Promise<Result<Generation, CliError>> {
  const { opened, tenant, settings, again } = options;
  let ended: Generation | undefined;
  for (let generation = 0; generation < MAX_GENERATIONS; generation++) {
    const run = runIdOf(settings, generation);
    const read = await opened.coordinator.lookUpRun({ tenant, run });
    if (!read.ok) return err(coordSentence(read.error));
    const isFirst = generation === 0;
    if (read.value.kind === "Missing") return ok(ended ?? { request: { tenant, run }, isFirst, record: undefined });
    if (read.value.kind === "Deleted") continue;
    const { record } = read.value;
    const isEnded = RunStatus.isTerminal(record.status);
    if (again && isEnded) continue;
    const same = await checkSettings(opened, record, settings);
    if (!same.ok) return same;
    const found = { request: { tenant, run }, isFirst, record };
    if (!isEnded) return ok(found);
    ended = found;
  }
  return fail(
    "NotAllowed",
    "too many runs of these settings came before this one: give it another name as its first argument.",
  );
}

async function checkSettings(
  opened: OpenedStore,
  record: RunRecord,
  settings: RunSettings,
): Promise<Result<void, CliError>> {
  if (record.status === "Initializing") return ok(undefined);
  const stored = await readSettings(opened, record);
  if (!stored.ok) return stored;
  if (stored.value?.fingerprint === fingerprintOf(settings)) return ok(undefined);
  return fail("OtherSettings", otherSettings(settings, stored.value, record.run));
}

function otherSettings(wanted: RunSettings, stored: RunSettings | undefined, run: RunId): string {
  const name = wanted.name === undefined ? RunId.format(run) : `"${printableText(wanted.name)}"`;
  const way = "give this one another name as its first argument, or repeat the settings of that one";
  if (stored === undefined) return `run ${name} exists, and was started by another program: ${way}.`;
  const fields = ["source", "exec", "module", "pipe", "out"] as const;
  const shown = shownSettings(wanted);
  const differing = fields
    .filter((field) => stored[field] !== shown[field])
    .map((field) => `--${field} ${stored[field] === undefined ? "left out" : printableText(stored[field])}`);
  const selected = selectionText(stored.selection);
  if (selected !== selectionText(wanted.selection))
    differing.push(selected === "" ? "all of the source" : printableText(selected.trim()));
  return `run ${name} exists with other settings (${differing.join(", ") || "a command that begins alike"}): ${way}.`;
}

function startSentence(error: Exclude<StartRunError, { kind: "Aborted" }>, settings: RunSettings): CliError {
  if (error.kind === "SourceMissing" || error.kind === "SourceUnreadable" || error.kind === "SourceInvalid")
    return sourceSentence(error);
  if (error.kind !== "SettingsMismatch") return coordSentence(error);
  return {
    kind: "OtherSettings",
    message: `run "${printableText(settings.name ?? "")}" exists with other settings: give this one another name as its first argument.`,
  };
}
