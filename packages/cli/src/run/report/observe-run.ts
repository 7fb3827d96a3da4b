import { performance } from "node:perf_hooks";
import { RunId, WorkerId } from "@gossip/contracts";
import type { RunRequest } from "@gossip/coordination";
import { ok, type Result } from "@gossip/stdx";
import type { Logger, WorkerEvent } from "@gossip/worker";
import type { Cli } from "../../cli.ts";
import type { ObserveFlags } from "../../logging/log-options.ts";
import type { OpenedLog } from "../../logging/open-log.ts";
import { LogView } from "../../logging/log-view.ts";
import type { Log } from "../../logging/log.ts";
import { workerLogger } from "../../logging/worker-log.ts";
import { Histogram } from "../../metrics/histogram.ts";
import { parseMetricsAddress } from "../../metrics/metrics-address.ts";
import { serveMetrics, type MetricsServer } from "../../metrics/metrics-server.ts";
import { RunMetrics } from "../../metrics/run-metrics.ts";
import type { OnStoreCall } from "../../store-url/opened-store.ts";
import type { CliError } from "../../output/cli-error.ts";
import { JsonView } from "../../progress/json-view.ts";
import { OwnWork } from "../../progress/own-work.ts";
import type { ProgressView, RunProgressShown } from "../../progress/run-progress.ts";
import { TerminalView } from "../../progress/terminal-view.ts";
import { VERSION } from "../../version.ts";

/** Everything that reports on a run: the view or the log, and the metrics. */
export interface RunObserver {
  /** The id of this process. */
  readonly worker: WorkerId;
  readonly own: OwnWork;
  readonly view: ProgressView;
  readonly logger: Logger | undefined;
  /** `undefined` if the view is drawn in a terminal. */
  readonly log: Log | undefined;
  /** For the store, if anything measures it. */
  readonly onStoreCall: OnStoreCall | undefined;
  /** The run is known from now on. */
  begin(request: RunRequest, source: string): void;
  readonly onEvent: (event: WorkerEvent) => void;
  readonly onShown: (progress: RunProgressShown) => void;
  close(): Promise<void>;
}

/** Start to observe, as the options say. The metrics are served from here on. */
export async function observeRun(
  cli: Cli,
  flags: ObserveFlags,
  opened: OpenedLog,
): Promise<Result<RunObserver, CliError>> {
  const { worker, log, isWanted } = opened;
  const own = new OwnWork(() => performance.now());
  const latency = new Map<string, Histogram>();
  let metrics: RunMetrics | undefined;
  const server = await serverFor(flags, () => metrics);
  if (!server.ok) return server;
  const view = viewFor(cli, opened);
  if (server.value !== undefined)
    view.say(`Metrics are at ${server.value.url}/metrics`, { kind: "metrics", url: `${server.value.url}/metrics` });
  return ok({
    worker,
    own,
    view,
    logger: isWanted ? workerLogger(log) : undefined,
    log: view instanceof TerminalView ? undefined : log,
    onStoreCall: server.value && ((operation, ms) => histogramOf(latency, operation).record(ms / 1000)),
    begin({ run }, source) {
      const [, kind = source] = /^([a-z]+):/.exec(source) ?? [];
      const names = { run: RunId.format(run), worker: WorkerId.format(worker), version: VERSION, source: kind };
      metrics = new RunMetrics({ ...names, own }, latency);
    },
    onEvent(event) {
      own.onEvent(event);
      metrics?.onEvent(event);
    },
    onShown: (progress) => metrics?.onShown(progress),
    async close() {
      await server.value?.close();
    },
  });
}

/** With `--json` the view is on stdout, and a log may be on stderr. */
export function viewFor({ console }: Cli, { log, isWanted }: OpenedLog): ProgressView {
  if (console.isJson) return new JsonView(console);
  return !isWanted && console.canRedraw(console.stderr) ? new TerminalView(console) : new LogView(console, log);
}

async function serverFor(
  { metrics }: ObserveFlags,
  source: () => RunMetrics | undefined,
): Promise<Result<MetricsServer | undefined, CliError>> {
  if (metrics === undefined) return ok(undefined);
  const address = parseMetricsAddress(metrics);
  return address.ok ? serveMetrics(address.value, source) : address;
}

function histogramOf(latency: Map<string, Histogram>, operation: string): Histogram {
  const known = latency.get(operation);
  if (known !== undefined) return known;
  const histogram = new Histogram();
  latency.set(operation, histogram);
  return histogram;
}
