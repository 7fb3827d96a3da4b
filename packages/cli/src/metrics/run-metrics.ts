import type { WorkerEvent } from "@gossip/worker";
import { outageText, type OwnWork } from "../progress/own-work.ts";
import type { RunProgressShown } from "../progress/run-progress.ts";
import type { Histogram } from "./histogram.ts";
import { METRICS, type MetricName } from "./metric-names.ts";

export interface RunMetricsOptions {
  readonly run: string;
  readonly worker: string;
  readonly version: string;
  readonly source: string;
  readonly own: OwnWork;
}

/** The state of a run and of this process as Prometheus metrics. */
export class RunMetrics {
  readonly #options: RunMetricsOptions;
  readonly #latency: Map<string, Histogram>;
  #shown: RunProgressShown | undefined;
  #lost = 0;

  /** `latency` is filled by the caller, by operation. */
  constructor(options: RunMetricsOptions, latency: Map<string, Histogram>) {
    this.#options = options;
    this.#latency = latency;
  }

  readonly onShown = (shown: RunProgressShown): void => {
    this.#shown = shown;
  };

  readonly onEvent = (event: WorkerEvent): void => {
    if (event.kind === "LeaseLost") this.#lost++;
  };

  /** Why the process cannot work at the moment. `undefined` if it can. */
  get notReady(): string | undefined {
    if (this.#shown === undefined) return "the run has not been read yet";
    if (this.#shown.isStopping) return "stopping";
    const { outage } = this.#shown;
    return outage && outageText(outage.what, outage.since.toISOString());
  }

  /** The text of `/metrics`. */
  text(): string {
    const lines: string[] = [];
    const add = (name: MetricName, ...samples: (readonly [labels: string, value: number | undefined])[]): void => {
      const known = samples.filter(([, value]) => value !== undefined);
      if (known.length === 0) return;
      lines.push(...headOf(name), ...known.map(([labels, value]) => `${name}${labels} ${value}`));
    };
    const { run, worker, version, source, own } = this.#options;
    add("gossip_run_info", [labelsOf({ run, worker, version, source }), 1]);
    this.#addRun(add);
    const progress = own.progress;
    add("gossip_worker_items_total", ["", progress?.items ?? 0]);
    add("gossip_worker_failures_total", ["", progress?.failures ?? 0]);
    add("gossip_worker_retries_total", ["", progress?.retries ?? 0]);
    add("gossip_worker_splits_total", ["", progress?.splits ?? 0]);
    add("gossip_worker_leases", ["", progress?.held ?? 0]);
    add("gossip_worker_leases_lost_total", ["", this.#lost]);
    if (this.#latency.size > 0) lines.push(...headOf("gossip_store_call_duration_seconds"));
    for (const [operation, histogram] of [...this.#latency].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      lines.push(...histogram.lines("gossip_store_call_duration_seconds", `operation="${operation}",`));
    return `${lines.join("\n")}\n`;
  }

  #addRun(add: (name: MetricName, ...samples: (readonly [labels: string, value: number | undefined])[]) => void): void {
    if (this.#shown === undefined) return;
    const { overview, fraction, perSecond, remainingMs, outage } = this.#shown;
    const { totals, states } = overview;
    add("gossip_run_fraction", ["", fraction]);
    add("gossip_run_eta_seconds", ["", remainingMs === undefined ? undefined : remainingMs / 1000]);
    add("gossip_run_items_per_second", ["", perSecond]);
    add("gossip_run_items", ["", totals.items]);
    add("gossip_run_failures", ["", totals.failed]);
    add("gossip_run_unreadable", ["", totals.unreadable]);
    add(
      "gossip_run_shards",
      ...Object.entries(states).map(([state, count]) => [labelsOf({ state }), count as number] as const),
    );
    add("gossip_store_up", ["", outage?.what === "store" ? 0 : 1]);
    add("gossip_source_up", ["", outage?.what === "source" ? 0 : 1]);
    add("gossip_results_up", ["", outage?.what === "results" ? 0 : 1]);
  }
}

function headOf(name: MetricName): string[] {
  const { type, help } = METRICS[name];
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const escape = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escape(value)}"`)
    .join(",")}}`;
}
