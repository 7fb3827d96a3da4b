import { useState } from "preact/hooks";
import { useApp } from "../app.ts";
import type { RunPage as RunPageData, RunRow, RunStatus } from "../data/api-types.ts";
import { useResource } from "../data/use-resource.ts";
import { formatCount, formatPercent, formatRate, plural } from "../format/numbers.ts";
import { formatDuration } from "../format/times.ts";
import { runTitle } from "../format/titles.ts";
import { Ago, Bar, Empty, Loaded, Pager, RunPill } from "../parts/parts.tsx";
import { hrefOf } from "../route/route.ts";

const STATUSES: readonly (readonly [RunStatus, string])[] = [
  ["Active", "running"],
  ["Initializing", "starting"],
  ["Done", "done"],
  ["Failed", "failed"],
  ["Cancelled", "canceled"],
];

/** Every run that the token may see. */
export function RunsPage() {
  const app = useApp();
  const { query } = app.location.value;
  const { tenant, status, text } = query;
  const [after, setAfter] = useState<string>();
  const filter = { tenant, status, text };
  const runs = useResource<RunPageData>(
    "console/runs",
    { ...filter, limit: 100, after },
    { of: JSON.stringify(filter) },
  );
  const isFiltered = [tenant, status, text].some((value) => (value ?? "") !== "");
  const change = (name: string, value: string): void => {
    setAfter(undefined);
    window.location.hash = hrefOf({ page: "runs" }, { ...filter, [name]: value });
  };
  return (
    <>
      <div class="page-head">
        <div class="title">
          <h1>Runs</h1>
        </div>
      </div>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label class="field grow">
          Name, source, command or id
          <input
            type="search"
            value={text ?? ""}
            placeholder="Filter"
            onInput={(event) => change("text", event.currentTarget.value)}
          />
        </label>
        <label class="field">
          State
          <select value={status ?? ""} onChange={(event) => change("status", event.currentTarget.value)}>
            <option value="">all</option>
            {STATUSES.map(([value, name]) => (
              <option value={value} key={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <TenantFilter tenant={tenant} onChange={(value) => change("tenant", value)} />
      </form>
      <Loaded resource={runs} what="The runs">
        {(page) =>
          page.runs.length === 0 ? (
            <div class="panel">{isFiltered ? <NothingFound /> : <NoRuns />}</div>
          ) : (
            <div class="panel">
              <RunTable runs={page.runs} />
              <Pager
                text={after === undefined ? `The first ${page.runs.length} runs` : `${page.runs.length} runs`}
                onFirst={after === undefined ? undefined : () => setAfter(undefined)}
                onNext={page.next === undefined ? undefined : () => setAfter(page.next)}
              />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function TenantFilter(props: { readonly tenant: string | undefined; readonly onChange: (tenant: string) => void }) {
  const { data } = useResource<{ readonly tenants: readonly string[] }>("tenants", {}, { everyMs: 30_000 });
  const tenants = data?.tenants ?? [];
  if (tenants.length < 2 && props.tenant === undefined) return null;
  return (
    <label class="field">
      Tenant
      <select value={props.tenant ?? ""} onChange={(event) => props.onChange(event.currentTarget.value)}>
        <option value="">all</option>
        {tenants.map((tenant) => (
          <option value={tenant} key={tenant}>
            {tenant.slice(0, 16)}…
          </option>
        ))}
      </select>
    </label>
  );
}

function RunTable({ runs }: { readonly runs: readonly RunRow[] }) {
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Runs">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">State</th>
            <th scope="col">Progress</th>
            <th scope="col" class="num">
              Rate
            </th>
            <th scope="col" class="num">
              Time left
            </th>
            <th scope="col" class="num">
              Failures
            </th>
            <th scope="col" class="num">
              Parked
            </th>
            <th scope="col" class="num">
              Workers
            </th>
            <th scope="col">Started</th>
          </tr>
        </thead>
        <tbody>
          {sortRuns(runs).map((run) => (
            <RunLine run={run} key={`${run.tenant}/${run.run}`} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RunLine({ run }: { readonly run: RunRow }) {
  const app = useApp();
  const isRunning = run.status === "Active";
  const tenant = run.tenant === app.ownTenant ? undefined : run.tenant;
  return (
    <tr>
      <th scope="row" class="run-name">
        <a href={hrefOf({ page: "run", run: run.run }, { tenant })}>{runTitle(run)}</a>
        <div class="muted sub">
          {run.work ?? (runTitle(run) === run.run ? "made by another program" : <code>{run.run}</code>)}
        </div>
      </th>
      <td data-label="State">
        <RunPill run={run} />
      </td>
      <td class="progress-cell" data-label="Progress">
        {run.fraction === undefined ? (
          <span class="muted">{run.items === undefined ? "not counted yet" : plural(run.items, "item")}</span>
        ) : (
          <>
            <span class="nowrap">
              {formatPercent(run.fraction)}
              {run.items !== undefined && <span class="muted"> · {plural(run.items, "item")}</span>}
            </span>
            <Bar fraction={run.fraction} label={`Progress of ${runTitle(run)}`} />
          </>
        )}
      </td>
      <Figure label="Rate" text={isRunning ? formatRate(run.perSecond) : undefined} />
      <Figure
        label="Time left"
        text={isRunning && run.remainingMs !== undefined ? formatDuration(run.remainingMs) : undefined}
      />
      <Problems label="Failures" count={run.failures} />
      <Problems label="Parked" count={run.shards.parked} />
      {isRunning && run.workers === 0 ? (
        <td class="num" data-label="Workers">
          <strong class="warn">none</strong>
        </td>
      ) : (
        <Figure label="Workers" text={isRunning ? formatCount(run.workers) : undefined} />
      )}
      <td data-label="Started">
        <Ago atMs={run.createdAtMs} />
      </td>
    </tr>
  );
}

/** A figure, or a dash. On a phone a row without a figure is left out. */
function Figure({ label, text }: { readonly label: string; readonly text: string | undefined }) {
  return (
    <td class={text === undefined ? "num none" : "num"} data-label={label}>
      {text ?? "–"}
    </td>
  );
}

function Problems({ label, count }: { readonly label: string; readonly count: number }) {
  return (
    <td class={count === 0 ? "num none muted" : "num"} data-label={label}>
      {count === 0 ? "0" : <strong class="bad">{formatCount(count)}</strong>}
    </td>
  );
}

/** What runs first, then the newest. */
function sortRuns(runs: readonly RunRow[]): RunRow[] {
  const isOver = ({ status }: RunRow): number => (status === "Active" || status === "Initializing" ? 0 : 1);
  return runs.toSorted((a, b) => isOver(a) - isOver(b) || b.createdAtMs - a.createdAtMs);
}

function NoRuns() {
  return (
    <Empty title="No runs yet">
      <p>A run appears here as soon as it is started on this store.</p>
      <code>gossip run --source fs:/data --exec 'sha256sum {"{}"}' --out sums.ndjson</code>
    </Empty>
  );
}

function NothingFound() {
  return (
    <Empty title="No run matches">
      <p>
        <a href={hrefOf({ page: "runs" })}>Show all runs</a>
      </p>
    </Empty>
  );
}
