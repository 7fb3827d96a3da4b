import type { WorkerList } from "../../data/api-types.ts";
import { useResource } from "../../data/use-resource.ts";
import { plural } from "../../format/numbers.ts";
import { Empty, Loaded, Panel } from "../../parts/parts.tsx";
import { whatToStart, WorkerTable } from "../../parts/worker-table.tsx";
import type { RunPanelProps } from "./run-panel.ts";

/** Who works on the run. */
export function WorkerPanel({ run, tenant, detail }: RunPanelProps) {
  const workers = useResource<WorkerList>(`console/runs/${run}/workers`, { tenant }, { run, of: run });
  const count = workers.data?.workers.length;
  return (
    <Panel title="Workers" note={count === undefined ? undefined : plural(count, "worker")}>
      <Loaded resource={workers} what="The workers">
        {({ workers: rows }) =>
          rows.length === 0 ? (
            <Empty title={detail.status === "Active" ? "No one is working on this run" : "No workers"}>
              {detail.status === "Active" && <p>{whatToStart(detail)}</p>}
            </Empty>
          ) : (
            <WorkerTable workers={rows} run={run} isShort />
          )
        }
      </Loaded>
    </Panel>
  );
}
