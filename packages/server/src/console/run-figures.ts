import type { RunRecord, RunRequest } from "@gossip/coordination";
import { recentRate, type RunLabel } from "@gossip/insight";
import { writeId, type AttentionWire, type RunRowWire } from "@gossip/protocol";
import type { ConsoleService } from "./console-service.ts";
import { isSilent } from "./history-writer.ts";
import type { RunView } from "./run-view.ts";
import { isOver } from "./shown-run.ts";

/** Counting failures stops here. */
const MAX_FAILURES = 10_000;
/** The figures of a writer that is gone are not shown. */
const FIGURES_LIFE_MS = 20_000;
/** No prediction from less than this. */
const LEAST_FRACTION = 0.02;
/** A run without an item for so long is reported. */
const STALLED_SECONDS = 60;

/** A run in a list. Without a view only what the store counts is known. */
export async function runRowOf(
  service: ConsoleService,
  record: RunRecord,
  view: RunView | undefined,
): Promise<RunRowWire> {
  const { tenant, run, status, createdAt, completedAt } = record;
  const request = { tenant, run };
  const { coordinator } = service.options;
  const [label, failures, workers, settings] = await Promise.all([
    service.labelOf(record),
    coordinator.countFailures({ ...request, limit: MAX_FAILURES }),
    service.workersOf(request),
    coordinator.getRunSettings(request),
  ]);
  const counted = view?.counted;
  const shards =
    counted === undefined || view?.isOld === true
      ? await countsOf(service, record, view)
      : { ...counted.sample.states };
  // A program that does not register its workers still holds shards.
  const unregistered = [...(counted?.sample.holders.keys() ?? [])].filter((worker) => !workers.has(worker));
  return {
    tenant,
    run: writeId(run),
    ...labelFields(label),
    status,
    createdAtMs: Number(createdAt),
    ...(completedAt === undefined ? {} : { completedAtMs: Number(completedAt) }),
    shards,
    ...(counted?.sample.items === undefined ? {} : { items: counted.sample.items }),
    ...(await figuresOf(view, shards, status === "Done")),
    failures: failures.ok ? failures.value : 0,
    workers: workers.size + unregistered.length,
    isPaused: settings.ok && settings.value.paused,
    isCounted: counted !== undefined,
  };
}

function labelFields({ name, source, exec, module }: RunLabel) {
  const work = exec ?? module;
  return {
    ...(name === undefined ? {} : { name }),
    ...(source === undefined ? {} : { source }),
    ...(work === undefined ? {} : { work }),
  };
}

async function countsOf({ options }: ConsoleService, { tenant, run }: RunRecord, view: RunView | undefined) {
  const progress = await (view === undefined ? readProgress(options, { tenant, run }) : view.progress());
  if (progress === undefined) return { done: 0, leased: 0, waiting: 0, parked: 0, split: 0 };
  const { done, leased, active, parked, split } = progress;
  return { done, leased, waiting: active - leased, parked, split };
}

async function readProgress({ coordinator }: ConsoleService["options"], request: RunRequest) {
  const read = await coordinator.getRunProgress(request);
  return read.ok ? read.value : undefined;
}

/** The figures of the process that writes the history, which knows more of the source, or else our own. */
async function figuresOf(view: RunView | undefined, shards: RunRowWire["shards"], isDone: boolean) {
  if (isDone) return { fraction: 1 };
  if (view === undefined) return {};
  if (view.counted === undefined) return fractionOf(shards);
  const { atMs, doneShare, items } = view.counted.sample;
  const { rollups, writer } = await view.history();
  const ageMs = writer === undefined ? Infinity : atMs - writer.atMs;
  const fraction = (ageMs < FIGURES_LIFE_MS ? writer?.fraction : undefined) ?? doneShare;
  if (isOver(view.run)) return { fraction };
  const isCurrent = writer !== undefined && !isSilent(writer, atMs);
  const perSecond = (isCurrent ? writer?.perSecond : undefined) ?? recentRate(rollups, atMs);
  const told = isCurrent && writer?.remainingMs !== undefined ? writer.remainingMs - ageMs : undefined;
  const remainingMs = told ?? predict({ fraction, perSecond, items });
  return {
    fraction,
    ...(perSecond === undefined ? {} : { perSecond }),
    ...(remainingMs === undefined ? {} : { remainingMs: Math.max(0, remainingMs) }),
  };
}

/** Until the shards are counted by position: the share of them that is done. */
function fractionOf({ done, leased, waiting, parked }: RunRowWire["shards"]): { fraction?: number } {
  const leaves = done + leased + waiting + parked;
  return leaves === 0 ? {} : { fraction: done / leaves };
}

function predict(known: {
  readonly fraction: number;
  readonly perSecond: number | undefined;
  readonly items: number | undefined;
}): number | undefined {
  const { fraction, perSecond = 0, items = 0 } = known;
  if (fraction < LEAST_FRACTION || perSecond <= 0 || items === 0) return undefined;
  return ((items / fraction) * (1 - fraction) * 1000) / perSecond;
}

/** What is stuck, most urgent first. */
export async function attentionOf(view: RunView, row: RunRowWire): Promise<AttentionWire[]> {
  const { shards, failures, workers, status, isPaused } = row;
  const found: AttentionWire[] = [];
  const add = (kind: AttentionWire["kind"], count: number, message: string, advice: string): void =>
    void found.push({ kind, count, message, advice });
  const isRunning = status === "Active";
  if (isRunning) {
    if (isPaused) add("Paused", 1, "The run is paused.", "Resume it when the work may go on.");
    else if (shards.leased === 0 && shards.waiting > 0 && workers === 0)
      add(
        "NobodyWorks",
        shards.waiting,
        "No one is working on this run.",
        "Start a worker with the command of the run.",
      );
    else if (await isStalled(view))
      add(
        "Stalled",
        shards.leased,
        "No item was finished in the last minute.",
        "Look at the workers and at what their items do.",
      );
    if (shards.leased + shards.waiting === 0 && view.counted !== undefined)
      add(
        "Unsettled",
        shards.parked,
        "No shard is left to work on, and the run has not ended.",
        "Unpark what is parked, or end the run.",
      );
  }
  if (shards.parked > 0)
    add(
      "Parked",
      shards.parked,
      shards.parked === 1 ? "1 shard is parked." : `${textOf(shards.parked)} shards are parked.`,
      "No worker continues a parked shard: look why, then unpark it.",
    );
  const { retrying = 0, retryingShard } = view.counted?.sample ?? {};
  if (retryingShard !== undefined)
    found.push({
      kind: "Retrying",
      count: retrying,
      message: retrying === 1 ? "A shard changes hands without progress." : "Shards change hands without progress.",
      advice: "An item may crash its worker: see what the shard is working on.",
      shard: writeId(retryingShard),
    });
  if (failures > 0)
    add(
      "Failures",
      failures,
      failures === 1
        ? "1 item failed and was skipped."
        : `${failures < MAX_FAILURES ? "" : "At least "}${textOf(failures)} items failed and were skipped.`,
      isRunning ? "Read their errors. They can be retried when the run has ended." : "Read their errors, then retry.",
    );
  return found;
}

function textOf(count: number): string {
  return count.toLocaleString("en");
}

async function isStalled(view: RunView): Promise<boolean> {
  const counted = view.counted?.sample;
  if (counted === undefined || counted.states.leased === 0 || counted.items === undefined) return false;
  const steps = (await view.history()).rollups.steps(1000);
  const last = Math.floor(counted.atMs / 1000) - 1;
  let [known, items] = [0, 0];
  for (let index = last; index > last - STALLED_SECONDS; index--) {
    const step = steps.get(index);
    if (step !== undefined) known++;
    items += step?.items ?? 0;
  }
  return known >= STALLED_SECONDS / 2 && items === 0;
}
