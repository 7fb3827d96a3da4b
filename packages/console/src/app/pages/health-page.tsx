import { useState } from "preact/hooks";
import { useApp } from "../app.ts";
import { sentenceOf } from "../data/call.ts";
import type { Health } from "../data/api-types.ts";
import { newOpId } from "../data/op-id.ts";
import { useResource } from "../data/use-resource.ts";
import { plural } from "../format/numbers.ts";
import { Ago, Empty, Loaded, Panel, Words } from "../parts/parts.tsx";

const VERDICTS = {
  fine: ["done", "fine"],
  note: ["waiting", "note"],
  problem: ["parked", "problem"],
} as const;

/** The machine and the store, with what to do. */
export function HealthPage() {
  const app = useApp();
  const { tenant } = app;
  const health = useResource<Health>("console/health", { tenant }, { everyMs: 2_000 });
  return (
    <>
      <div class="page-head">
        <div class="title">
          <h1>Health</h1>
          <p class="sub">{app.session.value.state === "known" && storeText(app.session.value.me)}</p>
        </div>
      </div>
      <Loaded resource={health} what="The state of the store">
        {(data) => (
          <>
            <Panel title="Checks" note={checkSummary(data)}>
              <CheckTable checks={data.checks} />
            </Panel>
            <Panel title="Records" note={<FsckButton health={data} onStarted={health.refresh} />}>
              <Fsck fsck={data.fsck} />
            </Panel>
          </>
        )}
      </Loaded>
    </>
  );
}

function storeText({ store, version }: { readonly store?: string; readonly version: string }): string {
  return store === undefined ? `Gossip ${version}` : `${store} · Gossip ${version}`;
}

function checkSummary({ checks }: Health): string {
  if (checks.length === 0) return "";
  const problems = checks.filter(({ verdict }) => verdict === "problem").length;
  return problems === 0 ? "no problems" : plural(problems, "problem");
}

function CheckTable({ checks }: Pick<Health, "checks">) {
  const { canOperate } = useApp();
  if (checks.length === 0)
    return (
      <Empty title="Not checked yet">
        <p>
          {canOperate ? "You can start a check below." : "An operator can start a check."} It looks at the machine and
          at every record, and changes nothing.
        </p>
      </Empty>
    );
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Checks">
      <table>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Verdict</th>
            <th scope="col">Found</th>
          </tr>
        </thead>
        <tbody>
          {checks.map(({ what, verdict, words }) => (
            <tr key={what}>
              <th scope="row">{what}</th>
              <td>
                <span class="pill" data-state={VERDICTS[verdict][0]}>
                  {VERDICTS[verdict][1]}
                </span>
              </td>
              <td>
                <Words text={words} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FsckButton({ health, onStarted }: { readonly health: Health; readonly onStarted: () => void }) {
  const app = useApp();
  const [isSending, setSending] = useState(false);
  if (!app.canOperate || health.fsck.state === "unavailable") return null;
  const start = async (): Promise<void> => {
    setSending(true);
    const answer = await app.client.post("console/health/check", { opId: newOpId() });
    setSending(false);
    if (!answer.ok) return app.toast("bad", `The check did not start. ${sentenceOf(answer.error)}`);
    onStarted();
  };
  return (
    <button
      type="button"
      class="button small"
      disabled={isSending || health.fsck.state === "running"}
      onClick={() => void start()}
    >
      {health.fsck.state === "running" ? "Checking …" : "Check every record"}
    </button>
  );
}

function Fsck({ fsck }: Pick<Health, "fsck">) {
  if (fsck.state === "unavailable") return <p class="muted">This server cannot check its store.</p>;
  if (fsck.state === "never")
    return (
      <p class="muted">
        The records were not checked since this server started. The check reads all of them and changes nothing.
      </p>
    );
  if (fsck.state === "running" && fsck.atMs === undefined) return <p role="status">Reading every record …</p>;
  return (
    <>
      <p>
        {fsck.isSound === true ? "Every record is sound." : `${plural(fsck.findings.length, "finding")}.`}{" "}
        <span class="muted">
          {plural(fsck.runs ?? 0, "run")} and {plural(fsck.shards ?? 0, "shard")} read
          {fsck.atMs !== undefined && (
            <>
              , <Ago atMs={fsck.atMs} />
            </>
          )}
        </span>
      </p>
      {fsck.findings.length > 0 && <Findings fsck={fsck} />}
    </>
  );
}

function Findings({ fsck }: Pick<Health, "fsck">) {
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Findings">
      <table>
        <thead>
          <tr>
            <th scope="col">Kind</th>
            <th scope="col">Where</th>
            <th scope="col">What is wrong</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {fsck.findings.map(({ kind, where, message, advice }, index) => (
            <tr key={index}>
              <th scope="row">{kind}</th>
              <td class="mono">{where ?? "–"}</td>
              <td>
                <Words text={message} />
              </td>
              <td>
                <Words text={advice} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {fsck.isTruncated && (
        <p class="muted">
          There are more findings. <code>gossip fsck</code> shows all of them.
        </p>
      )}
    </div>
  );
}
