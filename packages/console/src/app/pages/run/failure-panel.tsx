import { useState } from "preact/hooks";
import { retryFailures, unparkShard, unparkShards } from "../../actions/actions.ts";
import { useApp } from "../../app.ts";
import type { FailurePage, ShardPage } from "../../data/api-types.ts";
import { useResource } from "../../data/use-resource.ts";
import { formatCount, plural } from "../../format/numbers.ts";
import { shortId, startText } from "../../format/titles.ts";
import { Ago, Empty, Loaded, Pager, Panel, ShardLink } from "../../parts/parts.tsx";
import { actionRunOf, type RunPanelProps } from "./run-panel.ts";

const PAGE = 50;

/** The items that the run skipped, and the shards that it set aside. */
export function FailurePanel(props: RunPanelProps) {
  const { run, tenant, detail } = props;
  const app = useApp();
  const [after, setAfter] = useState<string>();
  const failures = useResource<FailurePage>(
    `console/runs/${run}/failures`,
    { tenant, limit: PAGE, after },
    { run, of: `${run}/${after ?? ""}`, everyMs: 2_000 },
  );
  const canRetry = app.canOperate && detail.failures > 0;
  const isOver = detail.status !== "Active" && detail.status !== "Initializing";
  return (
    <>
      {detail.shards.parked > 0 && <ParkedPanel {...props} />}
      <Panel
        title="Failed items"
        note={
          canRetry &&
          (!isOver ? (
            "can be retried when the run has ended"
          ) : (
            <button
              type="button"
              class="button small"
              onClick={() => app.ask(retryFailures(actionRunOf(detail), detail.failures))}
            >
              Retry {formatCount(detail.failures)} …
            </button>
          ))
        }
      >
        <Loaded resource={failures} what="The failures">
          {(page) =>
            page.failures.length === 0 ? (
              <Empty title="No item has failed" />
            ) : (
              <>
                <FailureTable page={page} run={run} />
                <Pager
                  text={`${plural(page.count, "item")} failed`}
                  onFirst={after === undefined ? undefined : () => setAfter(undefined)}
                  onNext={page.next === undefined ? undefined : () => setAfter(page.next)}
                />
              </>
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function FailureTable({ page, run }: { readonly page: FailurePage; readonly run: string }) {
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Failed items">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Item</th>
            <th scope="col">Error</th>
            <th scope="col" class="num">
              Attempts
            </th>
            <th scope="col">When</th>
            <th scope="col">Shard</th>
            <th scope="col">Worker</th>
          </tr>
        </thead>
        <tbody>
          {page.failures.map((failure) => (
            <tr key={failure.key.text}>
              <th scope="row" class="mono item">
                {failure.key.text}
              </th>
              <td data-label="Error">
                <span class="long">{failure.error || failure.reason}</span>
              </td>
              <td class="num" data-label="Attempts">
                {formatCount(failure.attempts)}
              </td>
              <td data-label="When">
                <Ago atMs={failure.atMs} />
              </td>
              <td data-label="Shard">
                <ShardLink run={run} shard={failure.shard} />
              </td>
              <td data-label="Worker">{failure.workerName ?? shortId(failure.worker)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How many shards are parked, and how to unpark those that are listed. */
function ParkedNote({
  detail,
  shards,
}: {
  readonly detail: RunPanelProps["detail"];
  readonly shards: ShardPage["shards"];
}) {
  const app = useApp();
  const isOver = detail.status !== "Active";
  if (!app.canOperate || isOver || shards.length < 2) return <>{plural(detail.shards.parked, "shard")}</>;
  const ids = shards.map(({ shard }) => shard);
  return (
    <button type="button" class="button small" onClick={() => app.ask(unparkShards(actionRunOf(detail), ids))}>
      Unpark these {formatCount(ids.length)} …
    </button>
  );
}

function ParkedPanel({ run, tenant, detail }: RunPanelProps) {
  const app = useApp();
  const [after, setAfter] = useState<string>();
  const parked = useResource<ShardPage>(
    `console/runs/${run}/shards`,
    { tenant, state: "parked", limit: PAGE, after },
    { run, of: `${run}/${after ?? ""}`, everyMs: 2_000 },
  );
  return (
    <Panel title="Parked shards" note={<ParkedNote detail={detail} shards={parked.data?.shards ?? []} />}>
      <Loaded resource={parked} what="The parked shards">
        {(page) => (
          <>
            <div class="table-wrap" tabIndex={0} role="group" aria-label="Parked shards">
              <table class="cards">
                <thead>
                  <tr>
                    <th scope="col">Shard</th>
                    <th scope="col">Reason</th>
                    <th scope="col">From</th>
                    <th scope="col">Stopped after</th>
                    <th scope="col">Error</th>
                    {app.canOperate && <th scope="col">Action</th>}
                  </tr>
                </thead>
                <tbody>
                  {page.shards.map((shard) => (
                    <tr key={shard.shard}>
                      <th scope="row">
                        <ShardLink run={run} shard={shard.shard} />
                      </th>
                      <td data-label="Reason">{shard.parkReason ?? "–"}</td>
                      <td class="item" data-label="From">
                        <span class="mono">{startText(shard.start)}</span>
                      </td>
                      <td class={shard.cursor === undefined ? "item none" : "item"} data-label="Stopped after">
                        <span class="mono">{shard.cursor?.text ?? "–"}</span>
                      </td>
                      <td class={shard.parkError === undefined ? "none" : undefined} data-label="Error">
                        <span class="long">{shard.parkError ?? "–"}</span>
                      </td>
                      {app.canOperate && (
                        <td data-label="Action">
                          <button
                            type="button"
                            class="button small"
                            aria-label={`Unpark ${shortId(shard.shard)}`}
                            onClick={() => app.ask(unparkShard(actionRunOf(detail), shard.shard))}
                          >
                            Unpark …
                          </button>
                        </td>
                      )}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <Pager
              text={plural(detail.shards.parked, "parked shard")}
              onFirst={after === undefined ? undefined : () => setAfter(undefined)}
              onNext={page.next === undefined ? undefined : () => setAfter(page.next)}
            />
          </>
        )}
      </Loaded>
    </Panel>
  );
}
