// The small parts that pages are made of.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useApp } from "../app.ts";
import { sentenceOf, type CallError } from "../data/call.ts";
import type { RunRow, ShardState } from "../data/api-types.ts";
import type { Resource } from "../data/use-resource.ts";
import { formatAgo, formatClock } from "../format/times.ts";
import { shortId } from "../format/titles.ts";
import { hrefOf } from "../route/route.ts";

export function Panel(props: {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const id = panelId(props.title);
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id} tabIndex={-1}>
          {props.title}
        </h2>
        {props.note !== undefined && <div class="note">{props.note}</div>}
      </div>
      <div class="panel-body">{props.children}</div>
    </section>
  );
}

/** Scroll to a panel, and let the keyboard and the screen reader go on there. */
export function showPanel(title: string): void {
  const heading = document.getElementById(panelId(title));
  heading?.focus({ preventScroll: true });
  heading?.closest("section")?.scrollIntoView();
}

function panelId(title: string): string {
  return `panel-${title.toLowerCase().replaceAll(/\W+/g, "-")}`;
}

export function Empty(props: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

/** A text of the server. What is between backticks is a command. */
export function Words({ text }: { readonly text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}

export function ErrorBanner(props: {
  readonly what: string;
  readonly error: CallError;
  readonly onRetry?: () => void;
}) {
  return (
    <div class="banner" data-tone="bad" role="alert">
      <div class="text">
        <strong>{props.what}.</strong> {sentenceOf(props.error)}
      </div>
      {props.onRetry !== undefined && (
        <button type="button" class="button small" onClick={props.onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Shows a resource once it is there. An error next to old data is a banner above it. */
export function Loaded<T>(props: {
  readonly resource: Resource<T>;
  readonly what: string;
  readonly children: (data: T) => ComponentChildren;
}) {
  const { data, error, refresh } = props.resource;
  return (
    <>
      {error !== undefined && <ErrorBanner what={`${props.what} cannot be read`} error={error} onRetry={refresh} />}
      {data !== undefined ? props.children(data) : error === undefined && <p class="muted">Loading …</p>}
    </>
  );
}

const STATE_NAMES: Readonly<Record<ShardState, string>> = {
  done: "done",
  leased: "in progress",
  waiting: "waiting",
  parked: "parked",
  split: "split",
};

export function stateName(state: ShardState): string {
  return STATE_NAMES[state];
}

export function StatePill({ state }: { readonly state: ShardState }) {
  return (
    <span class="pill" data-state={state}>
      {STATE_NAMES[state]}
    </span>
  );
}

const RUN_PILLS: Readonly<Record<RunRow["status"], readonly [state: string, name: string]>> = {
  Initializing: ["waiting", "starting"],
  Active: ["leased", "running"],
  Done: ["done", "done"],
  Failed: ["failed", "failed"],
  Cancelled: ["split", "canceled"],
};

export function RunPill({ run }: { readonly run: RunRow }) {
  const [state, name] = pillOf(run);
  return (
    <span class="pill" data-state={state}>
      {name}
    </span>
  );
}

function pillOf({ status, isPaused, isCounted, workers, shards }: RunRow): readonly [state: string, name: string] {
  if (status !== "Active") return RUN_PILLS[status];
  if (isPaused) return ["waiting", "paused"];
  return isCounted && workers === 0 && shards.leased === 0 ? ["waiting", "idle"] : RUN_PILLS.Active;
}

/** A shortened id. Pointing at it shows the whole id. */
export function Id({ id }: { readonly id: string }) {
  return (
    <code title={id} class="nowrap">
      {shortId(id)}
    </code>
  );
}

export function ShardLink({ run, shard }: { readonly run: string; readonly shard: string }) {
  const app = useApp();
  return (
    <a href={hrefOf({ page: "shard", run, shard }, { tenant: app.location.value.query["tenant"] })} title={shard}>
      <code class="nowrap">{shortId(shard)}</code>
    </a>
  );
}

/** How long ago. Pointing at it shows the time of day. */
export function Ago({ atMs }: { readonly atMs: number }) {
  const nowMs = useApp().nowMs.value;
  return (
    <time dateTime={new Date(atMs).toISOString()} title={formatClock(atMs, nowMs)} class="nowrap">
      {formatAgo(atMs, nowMs)}
    </time>
  );
}

export function Bar({ fraction, label }: { readonly fraction: number; readonly label: string }) {
  const percent = Math.round(Math.min(1, Math.max(0, fraction)) * 1000) / 10;
  return (
    <span
      class="bar"
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}

const LEGEND: readonly ShardState[] = ["done", "leased", "waiting", "parked"];

export function Legend({ states = LEGEND }: { readonly states?: readonly ShardState[] }) {
  return (
    <ul class="legend" aria-label="Legend">
      {states.map((state) => (
        <li key={state}>
          <span class="swatch" data-state={state} />
          {STATE_NAMES[state]}
        </li>
      ))}
    </ul>
  );
}

/** The table next to a picture, closed at first. Rows are made when it is opened, because there may be hundreds. */
export function DataTable(props: { readonly summary: string; readonly children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{props.summary}</summary>
      {isOpen && (
        <div class="table-wrap" tabIndex={0} role="group" aria-label={props.summary}>
          <table>{props.children}</table>
        </div>
      )}
    </details>
  );
}

export function Pager(props: {
  readonly text: string;
  readonly onFirst: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}) {
  if (props.onFirst === undefined && props.onNext === undefined) return null;
  return (
    <div class="pager">
      <span>{props.text}</span>
      <div class="buttons">
        <button type="button" class="button small" disabled={props.onFirst === undefined} onClick={props.onFirst}>
          First page
        </button>
        <button type="button" class="button small" disabled={props.onNext === undefined} onClick={props.onNext}>
          Next page
        </button>
      </div>
    </div>
  );
}
