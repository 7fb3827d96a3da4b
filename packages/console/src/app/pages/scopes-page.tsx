import { useApp } from "../app.ts";
import type { ScopeList } from "../data/api-types.ts";
import { useResource } from "../data/use-resource.ts";
import { plural } from "../format/numbers.ts";
import { formatAgo } from "../format/times.ts";
import { Empty, Loaded } from "../parts/parts.tsx";

const PILLS = { owned: "done", moving: "leased", down: "failed" } as const;

/** Which node owns what, and what is moving. */
export function ScopesPage() {
  const { tenant } = useApp();
  const scopes = useResource<ScopeList>("console/scopes", { tenant }, { everyMs: 2_000 });
  return (
    <>
      <div class="page-head">
        <div class="title">
          <h1>Scopes</h1>
          <p class="sub">{scopes.data?.isClustered === true && headOf(scopes.data)}</p>
        </div>
      </div>
      <Loaded resource={scopes} what="The scopes">
        {(list) => (
          <div class="panel">
            {list.scopes.length === 0 ? (
              <Empty title={list.isClustered ? "No scopes are declared" : "One node owns everything"}>
                {!list.isClustered && (
                  <p>Scopes divide runs between the nodes of a cluster. This server has no cluster file.</p>
                )}
              </Empty>
            ) : (
              <ScopeTable list={list} />
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}

function headOf({ node, epoch, scopes }: ScopeList): string {
  const moving = scopes.filter(({ state }) => state === "moving").length;
  const silent = new Set(scopes.flatMap(({ owner, isSilent }) => (isSilent === true ? [owner] : []))).size;
  return [
    // Only the owner and the target of a move know of it before its end.
    node === undefined ? undefined : `As node ${node} sees them`,
    epoch === undefined ? undefined : `epoch ${epoch}`,
    moving === 0 ? "nothing is moving" : `${plural(moving, "scope")} moving`,
    silent === 0 ? undefined : `${plural(silent, "owner")} not answering`,
  ]
    .filter((part) => part !== undefined)
    .join(" · ");
}

/** The owner does not answer. What it owns has not changed. */
function Silent({ seenAtMs }: { readonly seenAtMs: number | undefined }) {
  const { nowMs } = useApp();
  const seen = seenAtMs === undefined ? "not seen by this node yet" : `last seen ${formatAgo(seenAtMs, nowMs.value)}`;
  return <span class="silent">Does not answer · {seen}</span>;
}

function ScopeTable({ list }: { readonly list: ScopeList }) {
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Scopes">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Prefix</th>
            <th scope="col">State</th>
            <th scope="col">Owner</th>
            <th scope="col">Move</th>
          </tr>
        </thead>
        <tbody>
          {list.scopes.map(({ prefix, owner, address, state, move, isSilent = false, seenAtMs }) => (
            <tr key={prefix}>
              <th scope="row" class="mono item">
                {prefix}
              </th>
              <td data-label="State">
                <span class="pill" data-state={PILLS[state]}>
                  {state}
                </span>
              </td>
              <td data-label="Owner">
                <span>
                  <strong>{owner}</strong>
                  {owner === list.node && " (this node)"}{" "}
                  {address !== undefined && <span class="muted">{address}</span>}
                  {isSilent && <Silent seenAtMs={seenAtMs} />}
                </span>
              </td>
              <td data-label="Move" class={move === undefined ? "none" : undefined}>
                {move === undefined ? (
                  "–"
                ) : (
                  <span>
                    to <strong>{move.target}</strong> <code class="muted">{move.id}</code>
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
