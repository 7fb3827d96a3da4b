import { useApp } from "../app.ts";
import type { RunPage, RunRow, WorkerList } from "../data/api-types.ts";
import { useResource } from "../data/use-resource.ts";
import { plural } from "../format/numbers.ts";
import { runTitle } from "../format/titles.ts";
import { Empty, Loaded } from "../parts/parts.tsx";
import { whatToStart, WorkerTable } from "../parts/worker-table.tsx";
import { hrefOf } from "../route/route.ts";

/** Runs whose workers are listed. */
const MAX_RUNS = 20;

/** The workers of every run that is not over. */
export function WorkersPage() {
  const app = useApp();
  const tenant = app.location.value.query["tenant"];
  const runs = useResource<RunPage>("console/runs", { tenant, status: "Active", limit: MAX_RUNS });
  return (
    <>
      <div class="page-head">
        <div class="title">
          <h1>Workers</h1>
        </div>
      </div>
      <Loaded resource={runs} what="The runs">
        {(page) =>
          page.runs.length === 0 ? (
            <div class="panel">
              <Empty title="No run is active">
                <p>Workers are listed while their run is.</p>
              </Empty>
            </div>
          ) : (
            <>
              {page.runs.map((run) => (
                <RunWorkers key={`${run.tenant}/${run.run}`} run={run} />
              ))}
              {page.next !== undefined && <p class="muted">Only the first {MAX_RUNS} active runs are listed.</p>}
            </>
          )
        }
      </Loaded>
    </>
  );
}

function RunWorkers({ run }: { readonly run: RunRow }) {
  const app = useApp();
  const workers = useResource<WorkerList>(
    `console/runs/${run.run}/workers`,
    { tenant: run.tenant },
    { run: run.run, of: run.run },
  );
  const query = { tenant: app.location.value.query["tenant"] };
  const id = `workers-${run.run}`;
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>
          <a href={hrefOf({ page: "run", run: run.run }, query)}>{runTitle(run)}</a>
        </h2>
        {workers.data !== undefined && <div class="note">{plural(workers.data.workers.length, "worker")}</div>}
      </div>
      <div class="panel-body">
        <Loaded resource={workers} what="The workers">
          {({ workers: rows, nobodyWorks }) => (
            <>
              {nobodyWorks && (
                <div class="banner">
                  <div class="text">
                    <strong>No one is working on this run.</strong> {whatToStart(run)}
                  </div>
                </div>
              )}
              {rows.length > 0 && <WorkerTable workers={rows} run={run.run} />}
            </>
          )}
        </Loaded>
      </div>
    </section>
  );
}
