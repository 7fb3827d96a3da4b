import { parkShard, unparkShard } from "../actions/actions.ts";
import { useApp } from "../app.ts";
import type { ShardAnswer, ShardDetail, ShardRow } from "../data/api-types.ts";
import { useResource } from "../data/use-resource.ts";
import { formatCount, plural } from "../format/numbers.ts";
import { formatClock } from "../format/times.ts";
import { endText, shortId, startText, workerTitle } from "../format/titles.ts";
import { EventTable } from "../parts/event-table.tsx";
import { Ago, Empty, Loaded, Panel, ShardLink, StatePill } from "../parts/parts.tsx";
import { hrefOf } from "../route/route.ts";

/** All that is known of one shard. */
export function ShardPage({ run, shard }: { readonly run: string; readonly shard: string }) {
  const app = useApp();
  const { tenant } = app;
  const answer = useResource<ShardAnswer>(`console/runs/${run}/shards/${shard}`, { tenant }, { run, of: shard });
  const query = { tenant: app.location.value.query["tenant"] };
  return (
    <>
      <nav class="crumbs" aria-label="Path">
        <a href={hrefOf({ page: "runs" }, query)}>Runs</a> /{" "}
        <a href={hrefOf({ page: "run", run }, query)}>
          <code>{shortId(run)}</code>
        </a>{" "}
        /
      </nav>
      {answer.data === undefined && <h1>Shard {shortId(shard)}</h1>}
      <Loaded resource={answer} what="The shard">
        {({ shard: detail, events }) => (
          <>
            <ShardHead detail={detail} run={run} />
            {detail.parked !== undefined && <ParkedBanner detail={detail} />}
            <div class="columns">
              <ShardFacts detail={detail} />
              <Lineage detail={detail} run={run} />
            </div>
            <div class="columns">
              <OperationLog detail={detail} />
              <Panel title="Events" note={plural(events.length, "event")}>
                {events.length === 0 ? (
                  <Empty title="No events are kept of this shard" />
                ) : (
                  <EventTable events={events} isShort />
                )}
              </Panel>
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}

function ShardHead({ detail, run }: { readonly detail: ShardDetail; readonly run: string }) {
  const app = useApp();
  const action = { tenant: app.tenant, run, title: "" };
  return (
    <div class="page-head">
      <div class="title">
        <h1>
          Shard <span class="mono">{detail.shard}</span>
        </h1>
        <p class="sub">
          <StatePill state={detail.state} /> · <span class="mono">{startText(detail.start)}</span> …{" "}
          <span class="mono">{endText(detail.end)}</span>
        </p>
      </div>
      {app.canOperate && (
        <div class="buttons">
          {detail.state === "parked" && (
            <button type="button" class="button" onClick={() => app.ask(unparkShard(action, detail.shard))}>
              Unpark …
            </button>
          )}
          {(detail.state === "waiting" || detail.state === "leased") && (
            <button type="button" class="button" onClick={() => app.ask(parkShard(action, detail.shard))}>
              Park …
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function ParkedBanner({ detail }: { readonly detail: ShardDetail }) {
  const parked = detail.parked!;
  return (
    <div class="banner" data-tone="bad">
      <div class="text">
        <strong>
          Parked after {plural(parked.attempts, "attempt")} by{" "}
          {workerTitle({ worker: parked.worker, name: parked.workerName })}
        </strong>{" "}
        (<Ago atMs={parked.atMs} />
        {parked.item !== undefined && (
          <>
            , at <span class="mono">{parked.item.text}</span>
          </>
        )}
        )<p class="mono error-text">{parked.error}</p>
      </div>
    </div>
  );
}

function ShardFacts({ detail }: { readonly detail: ShardDetail }) {
  const nowMs = useApp().nowMs.value;
  const share = detail.to - detail.from;
  return (
    <Panel title="Range and progress">
      <dl class="facts">
        <dt>First key</dt>
        <dd class="mono">{detail.start.text || "no lower bound"}</dd>
        <dt>Up to, without</dt>
        <dd class="mono">{detail.end.text || "no upper bound"}</dd>
        <dt>Done up to</dt>
        <dd class="mono">{detail.cursor?.text ?? "nothing yet"}</dd>
        <dt>Part of the keys</dt>
        <dd>{share < 0.0001 ? "under 0.01%" : `${(share * 100).toFixed(2)}%`}</dd>
        <dt>Items</dt>
        <dd>{detail.items === undefined ? "not counted" : formatCount(detail.items)}</dd>
        <dt>Held by</dt>
        <dd>
          {detail.worker === undefined
            ? "no worker"
            : `${workerTitle({ worker: detail.worker, name: detail.workerName })}, until ${detail.deadlineMs === undefined ? "?" : formatClock(detail.deadlineMs, nowMs)}`}
        </dd>
        <dt>Fence</dt>
        <dd>{detail.fence}</dd>
        <dt>Acquired</dt>
        <dd>
          {plural(detail.acquired, "time")}, {plural(detail.retries, "retry", "retries")} since the last progress
        </dd>
        {detail.marker !== undefined && (
          <>
            <dt>Working on</dt>
            <dd class="mono">{detail.marker.item.text}</dd>
          </>
        )}
        <dt>Token, metadata</dt>
        <dd>
          {formatCount(detail.tokenSize)} and {plural(detail.metadataSize, "byte")}
        </dd>
        <dt>Last change</dt>
        <dd>
          <Ago atMs={detail.lastAtMs} />
        </dd>
      </dl>
    </Panel>
  );
}

function Lineage({ detail, run }: { readonly detail: ShardDetail; readonly run: string }) {
  const { ancestors, childShards } = detail;
  return (
    <Panel title="Lineage">
      {ancestors.length === 0 && childShards.length === 0 ? (
        <p class="muted">A first shard that was never split.</p>
      ) : (
        <div class="table-wrap" tabIndex={0} role="group" aria-label="Lineage">
          <table>
            <thead>
              <tr>
                <th scope="col">Shard</th>
                <th scope="col">Is</th>
                <th scope="col">State</th>
                <th scope="col">Range</th>
              </tr>
            </thead>
            <tbody>
              {ancestors.map((row, index) => (
                <LineageRow key={row.shard} row={row} run={run} role={index === 0 ? "first shard" : "ancestor"} />
              ))}
              <LineageRow row={detail} run={run} role="this shard" />
              {childShards.map((row) => (
                <LineageRow key={row.shard} row={row} run={run} role="child" />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {detail.children > childShards.length && (
        <p class="muted">
          The first {childShards.length} of {formatCount(detail.children)} children.
        </p>
      )}
    </Panel>
  );
}

function LineageRow({ row, run, role }: { readonly row: ShardRow; readonly run: string; readonly role: string }) {
  return (
    <tr>
      <th scope="row">
        {role === "this shard" ? <code>{shortId(row.shard)}</code> : <ShardLink run={run} shard={row.shard} />}
      </th>
      <td class="nowrap">{role}</td>
      <td>
        <StatePill state={row.state} />
      </td>
      <td class="mono item">
        {startText(row.start)} … {endText(row.end)}
      </td>
    </tr>
  );
}

function OperationLog({ detail }: { readonly detail: ShardDetail }) {
  return (
    <Panel title="Operations" note="the last that the shard remembers">
      {detail.log.length === 0 ? (
        <Empty title="No operations yet" />
      ) : (
        <div class="table-wrap" tabIndex={0} role="group" aria-label="Operations">
          <table>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">What</th>
                <th scope="col">Op id</th>
              </tr>
            </thead>
            <tbody>
              {detail.log.map(({ opId, kind, atMs }) => (
                <tr key={opId}>
                  <td>
                    <Ago atMs={atMs} />
                  </td>
                  <td>{kind}</td>
                  <td>
                    <code>{opId}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
