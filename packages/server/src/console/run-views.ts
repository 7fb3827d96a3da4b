import type { RunId, TenantId } from "@gossip/contracts";
import type { CoordinationEvent, RunRecord, RunRequest } from "@gossip/coordination";
import { RunView, type RunViewOptions } from "./run-view.ts";

/** Views that are kept. The one that was asked for longest ago goes first. */
const CAPACITY = 48;
/** How many runs that no page shows have their history kept. */
const MAX_UNWATCHED = 8;
const UNWATCHED_LIFE_MS = 15_000;

const KEEP_EVERY_MS = 1000;

const ACTIVITY: ReadonlySet<string> = new Set(["ShardAcquired", "ShardCheckpointed", "ShardCompleted"]);

/** The runs that pages look at. */
export class RunViews {
  readonly #views = new Map<string, RunView>();
  readonly #options: RunViewOptions;
  #lastKept: { readonly run: RunId | undefined; readonly untilMs: number } = { run: undefined, untilMs: 0 };

  constructor(options: RunViewOptions) {
    this.#options = options;
  }

  /** The view of a run that exists. */
  of(record: RunRecord): RunView {
    const id = idOf(record);
    const view = this.#views.get(id) ?? new RunView(record, this.#options);
    view.observe(record);
    this.#views.delete(id);
    this.#views.set(id, view);
    for (const [oldest, old] of this.#views) {
      if (this.#views.size <= CAPACITY) break;
      old.close();
      this.#views.delete(oldest);
    }
    return view;
  }

  /** The view of a run, if there is one. */
  find(request: RunRequest): RunView | undefined {
    return this.#views.get(idOf(request));
  }

  /** Keep the history of a run that this process works for, also if no page shows it. */
  async keepHistory(event: CoordinationEvent): Promise<void> {
    if (!ACTIVITY.has(event.kind)) return;
    // Nearly every event is of the run of the one before.
    const nowMs = this.#options.nowMs();
    if (event.run === this.#lastKept.run && nowMs < this.#lastKept.untilMs) return;
    this.#lastKept = { run: event.run, untilMs: nowMs + KEEP_EVERY_MS };
    const view = this.find(event);
    if (view !== undefined) return view.record(UNWATCHED_LIFE_MS);
    if (this.liveCount >= MAX_UNWATCHED) return;
    const { tenant, run } = event;
    const record = await this.#options.coordinator.getRun({ tenant, run });
    if (record.ok) this.of(record.value).record(UNWATCHED_LIFE_MS);
  }

  get liveCount(): number {
    let count = 0;
    for (const view of this.#views.values()) if (view.isLive) count++;
    return count;
  }

  /** Stop looking at runs, and wait until nothing is read or written any more. */
  async close(): Promise<void> {
    const views = [...this.#views.values()];
    this.#views.clear();
    await Promise.all(views.map((view) => view.closed()));
  }
}

function idOf({ tenant, run }: { readonly tenant: TenantId; readonly run: RunId }): string {
  return `${tenant}.${run}`;
}
