import { useEffect, useState } from "preact/hooks";
import { cancelRun, changeRate, deleteRun, pauseRun, resumeRun } from "../actions/actions.ts";
import { useApp } from "../app.ts";
import type { Attention, RunDetail, RunOverview } from "../data/api-types.ts";
import { useResource } from "../data/use-resource.ts";
import { formatCount, formatPercent, formatRate, plural } from "../format/numbers.ts";
import { formatDuration } from "../format/times.ts";
import { runTitle, shortId } from "../format/titles.ts";
import { Ago, Bar, Loaded, RunPill, showPanel } from "../parts/parts.tsx";
import { WHOLE, type KeyWindow } from "../pictures/window.ts";
import { hrefOf } from "../route/route.ts";
import { FailurePanel } from "./run/failure-panel.tsx";
import { HeatPanel } from "./run/heat-panel.tsx";
import { StripPanel } from "./run/strip-panel.tsx";
import { ThroughputPanel } from "./run/throughput-panel.tsx";
import { TimelinePanel } from "./run/timeline-panel.tsx";
import { TreePanel } from "./run/tree-panel.tsx";
import { actionRunOf } from "./run/run-panel.ts";
import { WorkerPanel } from "./run/worker-panel.tsx";

/** What one run looks like, from the most to the least urgent. */
export function RunPage({ run }: { readonly run: string }) {
  const app = useApp();
  const { tenant } = app;
  const [window, setWindow] = useState<KeyWindow>(WHOLE);
  const overview = useResource<RunOverview>(`console/runs/${run}`, { tenant }, { run, of: run });
  useTabTitle(overview.data?.run);
  return (
    <>
      <nav class="crumbs" aria-label="Path">
        <a href={hrefOf({ page: "runs" }, { tenant: app.location.value.query["tenant"] })}>Runs</a> /
      </nav>
      {overview.data === undefined && <h1>Run {shortId(run)}</h1>}
      <Loaded resource={overview} what="The run">
        {({ run: detail, attention }) => {
          const shown = { run, tenant: detail.tenant, window, onWindow: setWindow, detail };
          return (
            <>
              <RunHead detail={detail} />
              <AttentionList run={run} attention={attention} />
              <Figures detail={detail} />
              <StripPanel {...shown} />
              <div class="columns">
                <ThroughputPanel {...shown} />
                <WorkerPanel {...shown} />
              </div>
              <HeatPanel {...shown} />
              <TimelinePanel {...shown} />
              <TreePanel {...shown} />
              <FailurePanel {...shown} />
              <Facts detail={detail} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** The tab says how far the run is, also while another tab is shown. */
function useTabTitle(detail: RunDetail | undefined): void {
  const title = detail && [progressText(detail), runTitle(detail)].filter((part) => part !== undefined).join(" ");
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · Gossip`;
  }, [title]);
}

function progressText({ fraction, status }: RunDetail): string | undefined {
  return status === "Active" && fraction !== undefined ? formatPercent(fraction) : undefined;
}

function RunHead({ detail }: { readonly detail: RunDetail }) {
  return (
    <div class="page-head">
      <div class="title">
        <h1>{runTitle(detail)}</h1>
        <p class="sub">
          <RunPill run={detail} /> · started <Ago atMs={detail.createdAtMs} />
          {detail.work !== undefined && <> · {detail.work}</>}
        </p>
      </div>
      <RunActions detail={detail} />
    </div>
  );
}

function RunActions({ detail }: { readonly detail: RunDetail }) {
  const app = useApp();
  if (!app.canOperate) return null;
  const run = actionRunOf(detail);
  const isOver = detail.status !== "Active" && detail.status !== "Initializing";
  if (isOver)
    return (
      <div class="buttons">
        <button type="button" class="button danger" onClick={() => app.ask(deleteRun(run, detail.name))}>
          Delete …
        </button>
      </div>
    );
  return (
    <div class="buttons">
      <button
        type="button"
        class="button"
        onClick={() => app.ask(detail.settings.paused ? resumeRun(run) : pauseRun(run))}
      >
        {detail.settings.paused ? "Resume …" : "Pause …"}
      </button>
      <button type="button" class="button" onClick={() => app.ask(changeRate(run, detail.settings.itemsPerSecond))}>
        Change the rate …
      </button>
      <button type="button" class="button danger" onClick={() => app.ask(cancelRun(run))}>
        Cancel …
      </button>
    </div>
  );
}

/** The panels that have more about what needs attention. */
const PANELS: Readonly<Record<string, string>> = {
  NobodyWorks: "Workers",
  Stalled: "Workers",
  Parked: "Parked shards",
  Unsettled: "Parked shards",
  Failures: "Failed items",
};

/** What is stuck, most urgent first. */
function AttentionList({ run, attention }: { readonly run: string; readonly attention: readonly Attention[] }) {
  const tenant = useApp().location.value.query["tenant"];
  return (
    <div aria-live="polite" aria-label="What needs attention" role="region">
      {attention.map(({ kind, message, advice, shard }) => (
        <div class="banner" data-kind={kind} key={kind}>
          <div class="text">
            <strong>{message}</strong> {advice}
          </div>
          {shard !== undefined && (
            <a class="button small" href={hrefOf({ page: "shard", run, shard }, { tenant })}>
              Open the shard
            </a>
          )}
          {PANELS[kind] !== undefined && (
            <button type="button" class="button small" onClick={() => showPanel(PANELS[kind]!)}>
              Show
            </button>
          )}
        </div>
      ))}
    </div>
  );
}

function Figures({ detail }: { readonly detail: RunDetail }) {
  const { shards, fraction, items, status } = detail;
  const isRunning = status === "Active";
  return (
    <dl class="tiles">
      <div class="tile">
        <dt>Progress</dt>
        <dd>{fraction === undefined ? "–" : formatPercent(fraction)}</dd>
        <dd class="more">{fraction !== undefined && <Bar fraction={fraction} label="Progress" />}</dd>
      </div>
      <div class="tile">
        <dt>Items done</dt>
        <dd>{items === undefined ? "–" : formatCount(items)}</dd>
        <dd class="more">{itemsNote(detail)}</dd>
      </div>
      <div class="tile">
        <dt>Rate</dt>
        <dd>{isRunning ? formatRate(detail.perSecond) : "–"}</dd>
        <dd class="more">{limitText(detail)}</dd>
      </div>
      <div class="tile">
        <dt>{isRunning ? "Time left" : "Took"}</dt>
        <dd>{isRunning ? leftText(detail) : tookText(detail)}</dd>
        <dd class="more">{isRunning && (detail.remainingMs === undefined ? "not known yet" : "predicted")}</dd>
      </div>
      <div class="tile">
        <dt>Workers</dt>
        <dd>{formatCount(detail.workers)}</dd>
        <dd class="more">{plural(shards.leased, "shard")} in progress</dd>
      </div>
      <div class="tile" data-tone={shards.parked > 0 ? "bad" : undefined}>
        <dt>Shards parked</dt>
        <dd>{formatCount(shards.parked)}</dd>
        <dd class="more">
          of {formatCount(shards.done + shards.leased + shards.waiting + shards.parked)} · {formatCount(shards.done)}{" "}
          done
        </dd>
      </div>
      <div class="tile" data-tone={detail.failures > 0 ? "bad" : undefined}>
        <dt>Items failed</dt>
        <dd>{formatCount(detail.failures)}</dd>
        <dd class="more">{detail.failures > 0 ? "skipped" : "none skipped"}</dd>
      </div>
    </dl>
  );
}

/** A program may keep no count of its items. */
function itemsNote({ isCounted, items }: RunDetail): string {
  if (items !== undefined) return "stored";
  return isCounted ? "not counted" : "being counted";
}

function limitText({ settings }: RunDetail): string {
  return settings.itemsPerSecond === null ? "no limit" : `limit ${formatRate(settings.itemsPerSecond)}`;
}

function leftText({ remainingMs }: RunDetail): string {
  return remainingMs === undefined ? "–" : formatDuration(remainingMs);
}

function tookText({ createdAtMs, completedAtMs }: RunDetail): string {
  return completedAtMs === undefined ? "–" : formatDuration(completedAtMs - createdAtMs);
}

function Facts({ detail }: { readonly detail: RunDetail }) {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Run", detail.run],
    ["Tenant", detail.tenant],
    ["Source", detail.source],
    ["Command", detail.exec],
    ["Module", detail.module],
    ["Results", detail.out],
    ["Lease", formatDuration(detail.leaseMs)],
    ["First shards", formatCount(detail.initialShards)],
  ];
  return (
    <section class="panel" aria-labelledby="panel-facts">
      <div class="panel-head">
        <h2 id="panel-facts">About this run</h2>
      </div>
      <div class="panel-body">
        <dl class="facts">
          {facts.flatMap(([name, value]) =>
            value === undefined
              ? []
              : [
                  <dt key={name}>{name}</dt>,
                  <dd key={`${name}-`}>
                    <code>{value}</code>
                  </dd>,
                ],
          )}
        </dl>
      </div>
    </section>
  );
}
