import { useCallback, useEffect, useState } from "preact/hooks";
import { splitHere } from "../../actions/actions.ts";
import { useApp } from "../../app.ts";
import type { Strip, StripShard } from "../../data/api-types.ts";
import { useResource } from "../../data/use-resource.ts";
import { formatCount, formatPercent, plural } from "../../format/numbers.ts";
import { endText, startText } from "../../format/titles.ts";
import { formatDuration } from "../../format/times.ts";
import { Bar, DataTable, Legend, Loaded, Panel, ShardLink, StatePill, stateName } from "../../parts/parts.tsx";
import type { Colors } from "../../pictures/colors.ts";
import { drawPointer, drawStrip } from "../../pictures/draw.ts";
import { Picture, type Point, type Size } from "../../pictures/picture.tsx";
import { hitStrip, layoutStrip, type StripHit } from "../../pictures/strip-layout.ts";
import { isWhole, pan, positionAt, shareOf, WHOLE, zoomAround, zoomTo, type KeyWindow } from "../../pictures/window.ts";
import { hrefOf } from "../../route/route.ts";
import { actionRunOf, type RunPanelProps } from "./run-panel.ts";
import { useKeyAt } from "./key-at.ts";

const HEIGHT = 64;
const BUCKETS = 1_000;
/** How often to ask how far the first count is. */
const COUNTING_MS = 2_000;
const KEYS =
  "Arrow keys move the pointer, plus and minus zoom, page up and page down move along, zero shows everything, enter pins the position and shows what can be done there.";

/** Every shard at its true position. */
export function StripPanel(props: RunPanelProps) {
  const { run, tenant, window, onWindow } = props;
  const strip = useResource<Strip>(
    `console/runs/${run}/strip`,
    { tenant, from: window.from, to: window.to, buckets: BUCKETS },
    { run, of: run },
  );
  const { data, refresh } = strip;
  useEffect(() => {
    if (data === undefined || data.isCounted) return undefined;
    const timer = setTimeout(refresh, COUNTING_MS);
    return () => clearTimeout(timer);
  }, [data]);
  return (
    <Panel title="Keyspace" note={<ZoomControls window={window} onWindow={onWindow} />}>
      <Loaded resource={strip} what="The keyspace">
        {(data) => (
          <>
            {!data.isCounted && <Counting {...props} strip={data} />}
            {(data.isCounted || isShown(data)) && <StripPicture {...props} strip={data} />}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/** Whether there is something to show before all shards are counted: estimates, or the shards of a small part. */
function isShown({ isEstimate = false, shards = [] }: Strip): boolean {
  return isEstimate || shards.length > 0;
}

/** What is shown while the shards are counted for the first time. A million of them take a while. */
function Counting({ strip, detail }: RunPanelProps & { readonly strip: Strip }) {
  const { done, leased, waiting, parked, split } = detail.shards;
  const share = strip.countedShare ?? 0;
  const shards = plural(done + leased + waiting + parked + split, "shard");
  return (
    <div class="counting">
      <p>
        {isShown(strip)
          ? `Estimated from a sample while the ${shards} are counted`
          : `Finding out where the ${shards} lie`}
        : {formatPercent(share)}
      </p>
      <Bar fraction={share} label="Shards counted" />
    </div>
  );
}

function StripPicture({ strip, detail, run, window, onWindow }: RunPanelProps & { readonly strip: Strip }) {
  const [pointed, setPointed] = useState<Point>();
  const [pinned, setPinned] = useState<number>();
  // A pinned position stays on its key while the window moves.
  const pinnedShare = pinned === undefined ? undefined : shareOf(window, pinned);
  const point = pointed ?? (pinnedShare === undefined ? undefined : { x: pinnedShare, y: 0.5 });
  const position = pointed === undefined ? pinned : positionAt(window, pointed.x);
  const hit = position === undefined ? undefined : hitStrip(strip, position);
  const key = useKeyAt(detail, position);
  const draw = useCallback(
    (context: CanvasRenderingContext2D, size: Size, colors: Colors) => {
      drawStrip(context, size, colors, layoutStrip(strip, window, size.width));
      if (point !== undefined) drawPointer(context, size, colors, point);
    },
    [strip, window, point?.x],
  );
  const onKey = (pressed: string, at: Point): boolean => {
    const next = zoomOf(window, pressed, at.x);
    if (next !== undefined) onWindow(next);
    return next !== undefined;
  };
  return (
    <>
      <Picture
        label={`Keyspace strip, ${countOf(strip)}: ${summaryOf(detail.shards)}.`}
        keys={KEYS}
        height={HEIGHT}
        draw={draw}
        point={point}
        onPoint={setPointed}
        onChoose={({ x }) => setPinned(positionAt(window, x))}
        onDrag={(from, to) => onWindow(zoomTo(window, from.x, to.x))}
        onKey={onKey}
      />
      <div class="ends">
        <span class="mono">{startText(window.from > 0 ? strip.fromKey : detail.from)}</span>
        <span class="mono">{endText(window.to < 1 ? strip.toKey : detail.to)}</span>
      </div>
      <div class="below">
        <p class="readout" aria-live="polite">
          <Readout hit={hit} keyText={key?.text} isEstimate={strip.isEstimate === true} />
        </p>
        <Legend />
      </div>
      <Pinned {...{ strip, detail, run, window, onWindow, pinned }} onUnpin={() => setPinned(undefined)} />
      <StripTable strip={strip} run={run} />
    </>
  );
}

interface PinnedProps extends Omit<RunPanelProps, "tenant"> {
  readonly strip: Strip;
  readonly pinned: number | undefined;
  readonly onUnpin: () => void;
}

/** What can be done where the strip was clicked. */
function Pinned({ strip, detail, run, window, onWindow, pinned, onUnpin }: PinnedProps) {
  const app = useApp();
  const key = useKeyAt(detail, pinned);
  const hit = pinned === undefined ? undefined : hitStrip(strip, pinned);
  if (pinned === undefined) return null;
  const at = { position: pinned, key: key?.text ?? "" };
  return (
    <div class="buttons" role="group" aria-label={`At ${at.key}`}>
      {hit?.kind === "shard" && (
        <a
          class="button small"
          href={hrefOf({ page: "shard", run, shard: hit.shard.shard }, { tenant: app.location.value.query["tenant"] })}
        >
          Open the shard
        </a>
      )}
      <button
        type="button"
        class="button small"
        onClick={() => onWindow(zoomAround(window, Math.min(1, Math.max(0, shareOf(window, pinned))), 8))}
      >
        Zoom in
      </button>
      {app.canOperate && detail.status === "Active" && (
        <button type="button" class="button small" onClick={() => app.ask(splitHere(actionRunOf(detail), at))}>
          Split here …
        </button>
      )}
      <button type="button" class="button small" onClick={onUnpin}>
        Unpin
      </button>
    </div>
  );
}

/** The window after a key was pressed at share `x`, or `undefined` if the key does not move it. */
export function zoomOf(window: KeyWindow, pressed: string, x: number): KeyWindow | undefined {
  switch (pressed) {
    case "+":
    case "=":
      return zoomAround(window, x, 2);
    case "-":
      return zoomAround(window, x, 0.5);
    case "PageDown":
      return pan(window, 0.5);
    case "PageUp":
      return pan(window, -0.5);
    case "0":
    case "Escape":
      return WHOLE;
    default:
      return undefined;
  }
}

export function ZoomControls({ window, onWindow }: Pick<RunPanelProps, "window" | "onWindow">) {
  return (
    <span class="segments" role="group" aria-label="Zoom">
      <button type="button" onClick={() => onWindow(zoomAround(window, 0.5, 2))}>
        Zoom in
      </button>
      <button type="button" disabled={isWhole(window)} onClick={() => onWindow(zoomAround(window, 0.5, 0.5))}>
        Zoom out
      </button>
      <button type="button" disabled={isWhole(window)} onClick={() => onWindow(WHOLE)}>
        All keys
      </button>
    </span>
  );
}

function leaseText(leftMs: number): string {
  return leftMs > 0 ? ` for ${formatDuration(leftMs)} more` : ", lease lapsed";
}

function rangeText({ start, end }: StripShard): string {
  return `${startText(start)} … ${endText(end)}`;
}

/** How many shards the strip shows, and whether that is sure. */
function countOf({ shardCount, isEstimate = false }: Strip): string {
  return `${isEstimate ? "about " : ""}${plural(shardCount, "shard")}`;
}

function summaryOf({ done, leased, waiting, parked }: RunPanelProps["detail"]["shards"]): string {
  return `${formatCount(done)} done, ${formatCount(leased)} in progress, ${formatCount(waiting)} waiting, ${formatCount(parked)} parked`;
}

interface ReadoutProps {
  readonly hit: StripHit | undefined;
  readonly keyText: string | undefined;
  readonly isEstimate: boolean;
}

function Readout({ hit, keyText, isEstimate }: ReadoutProps) {
  const { nowMs } = useApp();
  if (hit === undefined)
    return <>Point at the strip to see what is there. Drag to zoom. Click for what can be done there.</>;
  if (hit.kind === "bucket") {
    const { done, leased, waiting, parked } = hit.counts;
    if (isEstimate)
      return (
        <>
          Probably <strong>{stateName(hit.fill)}</strong> at {keyText ?? "…"}
        </>
      );
    return (
      <>
        <strong>{stateName(hit.fill)}</strong> at {keyText ?? "…"} · begins here: {formatCount(done)} done,{" "}
        {formatCount(leased)} in progress, {formatCount(waiting)} waiting, {formatCount(parked)} parked
      </>
    );
  }
  const { shard } = hit;
  return (
    <>
      <strong>{stateName(shard.state)}</strong> · {rangeText(shard)}
      {shard.cursor !== undefined && shard.state !== "done" && ` · done up to ${shard.cursor.text}`}
      {shard.worker !== undefined && ` · held by ${shard.workerName ?? shard.worker}`}
      {shard.deadlineMs !== undefined && leaseText(shard.deadlineMs - nowMs.value)}
    </>
  );
}

function StripTable({ strip, run }: { readonly strip: Strip; readonly run: string }) {
  const { shards, buckets } = strip;
  if (shards === undefined && buckets === undefined) return null;
  if (shards === undefined) return <BucketTable strip={strip} />;
  return (
    <DataTable summary={`Table: ${plural(shards.length, "shard")} in this part`}>
      <thead>
        <tr>
          <th scope="col">Shard</th>
          <th scope="col">State</th>
          <th scope="col">From</th>
          <th scope="col">To</th>
          <th scope="col">Done up to</th>
          <th scope="col">Held by</th>
        </tr>
      </thead>
      <tbody>
        {shards.map((shard) => (
          <tr key={shard.shard}>
            <td>
              <ShardLink run={run} shard={shard.shard} />
            </td>
            <td>
              <StatePill state={shard.state} />
            </td>
            <td class="mono">{startText(shard.start)}</td>
            <td class="mono">{endText(shard.end)}</td>
            <td class="mono">{shard.cursor?.text ?? "–"}</td>
            <td>{shard.workerName ?? shard.worker ?? "–"}</td>
          </tr>
        ))}
      </tbody>
    </DataTable>
  );
}

/** Rows that a table of buckets has. A thousand of them help no reader. */
const TABLE_ROWS = 50;

function BucketTable({ strip }: { readonly strip: Strip }) {
  const buckets = strip.buckets!;
  const size = Math.ceil(buckets.count / TABLE_ROWS);
  const sum = (counts: readonly number[], row: number): number =>
    counts.slice(row * size, (row + 1) * size).reduce((total, count) => total + count, 0);
  const rows = Array.from({ length: Math.ceil(buckets.count / size) }, (_, row) => row);
  return (
    <DataTable summary={`Table: ${countOf(strip)} in ${rows.length} parts`}>
      <thead>
        <tr>
          <th scope="col">Part</th>
          <th scope="col" class="num">
            Done
          </th>
          <th scope="col" class="num">
            In progress
          </th>
          <th scope="col" class="num">
            Waiting
          </th>
          <th scope="col" class="num">
            Parked
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row}>
            <th scope="row">
              {((row * 100) / rows.length).toFixed(0)}–{(((row + 1) * 100) / rows.length).toFixed(0)}%
            </th>
            <td class="num">{formatCount(sum(buckets.done, row))}</td>
            <td class="num">{formatCount(sum(buckets.leased, row))}</td>
            <td class="num">{formatCount(sum(buckets.waiting, row))}</td>
            <td class="num">{formatCount(sum(buckets.parked, row))}</td>
          </tr>
        ))}
      </tbody>
    </DataTable>
  );
}
