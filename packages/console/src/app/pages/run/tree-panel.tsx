import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../../app.ts";
import type { ShardRow, TreePage } from "../../data/api-types.ts";
import { useResource } from "../../data/use-resource.ts";
import { formatCount, plural } from "../../format/numbers.ts";
import { endText, shortId, startText } from "../../format/titles.ts";
import { DataTable, Loaded, Pager, Panel, Legend, ShardLink, StatePill, stateName } from "../../parts/parts.tsx";
import type { Colors } from "../../pictures/colors.ts";
import { drawPointer, drawTree, TREE_ROW_HEIGHT } from "../../pictures/draw.ts";
import { Picture, type Point, type Size } from "../../pictures/picture.tsx";
import { hitTree, layoutTree, treeLines, type TreeLine, type TreeNode } from "../../pictures/tree-layout.ts";
import { WHOLE } from "../../pictures/window.ts";
import type { RunPanelProps } from "./run-panel.ts";

const PAGE = 50;
/** Split shards whose children are read without being asked for, so that the picture shows something. */
const OPENED_AT_FIRST = 12;

/** Which shard came from which split. */
export function TreePanel({ run, tenant, detail }: RunPanelProps) {
  const [after, setAfter] = useState<string>();
  const roots = useResource<TreePage>(
    `console/runs/${run}/tree`,
    { tenant, limit: PAGE, after },
    { run, of: `${run}/${after ?? ""}`, everyMs: 3_000 },
  );
  return (
    <Panel title="Splits" note={`${plural(detail.shards.split, "shard")} split`}>
      <Loaded resource={roots} what="The split tree">
        {(page) => (
          <>
            <Tree run={run} tenant={tenant} roots={page.nodes} />
            <Pager
              text={`${plural(page.nodes.length, "first shard")} of ${formatCount(detail.initialShards)}`}
              onFirst={after === undefined ? undefined : () => setAfter(undefined)}
              onNext={page.next === undefined ? undefined : () => setAfter(page.next)}
            />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

interface TreeProps {
  readonly run: string;
  readonly tenant: string;
  readonly roots: readonly ShardRow[];
}

function Tree({ run, tenant, roots }: TreeProps) {
  const { nodes, isOpen, toggle, readMore } = useTree({ run, tenant, roots });
  const [point, setPoint] = useState<Point>();
  const window = windowOf(roots);
  const boxes = layoutTree(nodes, window);
  const depth = boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
  const height = depth * TREE_ROW_HEIGHT;
  const draw = useCallback(
    (context: CanvasRenderingContext2D, size: Size, colors: Colors) => {
      drawTree(context, size, colors, boxes);
      if (point !== undefined) drawPointer(context, size, colors, point);
    },
    [nodes, point?.x],
  );
  const hit = point && hitTree(boxes, point.x, Math.min(depth - 1, Math.floor(point.y * depth)));
  return (
    <>
      <Picture
        label={`Split tree of ${plural(roots.length, "first shard")}, ${plural(depth, "generation")}.`}
        keys="Arrow keys move the pointer, enter reads the children."
        height={height}
        draw={draw}
        point={point}
        onPoint={setPoint}
        onChoose={(at) => {
          const chosen = hitTree(boxes, at.x, Math.min(depth - 1, Math.floor(at.y * depth)));
          if (chosen !== undefined && chosen.row.children > 0) toggle(chosen.row.shard);
        }}
      />
      <div class="below">
        <p class="readout" aria-live="polite">
          {hit === undefined ? (
            "First shards are at the top, their children below them, at their true positions."
          ) : (
            <>
              <strong>{stateName(hit.row.state)}</strong> · shard {shortId(hit.row.shard)} · {startText(hit.row.start)}{" "}
              … {endText(hit.row.end)}
            </>
          )}
        </p>
        <Legend states={["done", "leased", "waiting", "parked", "split"]} />
      </div>
      <TreeTable lines={treeLines(nodes, isOpen)} run={run} onToggle={toggle} onMore={readMore} />
    </>
  );
}

/** The part of the axis that the shown shards cover. */
function windowOf(roots: readonly ShardRow[]): typeof WHOLE {
  const [first, last] = [roots[0], roots.at(-1)];
  return first === undefined || last === undefined || last.to <= first.from ? WHOLE : { from: first.from, to: last.to };
}

/** The tree as far as it was read. Children are read when a shard is opened. */
function useTree({ run, tenant, roots }: TreeProps) {
  const { client } = useApp();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [children, setChildren] = useState<ReadonlyMap<string, ChildPage>>(new Map());
  const asked = useRef(new Set<string>());

  const read = async (shard: string, after: string | undefined): Promise<void> => {
    asked.current.add(shard);
    const query = { tenant, parent: shard, limit: PAGE, after };
    const answer = await client.get<TreePage>(`console/runs/${run}/tree`, query);
    if (!answer.ok) return void asked.current.delete(shard);
    const { nodes, next } = answer.value;
    setChildren((before) => {
      const known = after === undefined ? [] : (before.get(shard)?.rows ?? []);
      return new Map([...before, [shard, { rows: [...known, ...nodes], next }]]);
    });
  };

  // The children of what is open are read again with the roots, because their states change.
  useEffect(() => {
    const isFirst = asked.current.size === 0;
    const split = roots.filter((row) => row.children > 0).map(({ shard }) => shard);
    const wanted = isFirst ? split.slice(0, OPENED_AT_FIRST) : [...open].filter((shard) => asked.current.has(shard));
    if (isFirst && wanted.length > 0) setOpen(new Set(wanted));
    for (const shard of wanted.slice(0, 2 * OPENED_AT_FIRST)) void read(shard, undefined);
  }, [roots]);

  return {
    nodes: assemble(roots, children),
    isOpen: (shard: string): boolean => open.has(shard),
    toggle: (shard: string): void => {
      setOpen((before) => {
        const after = new Set(before);
        if (!after.delete(shard)) after.add(shard);
        return after;
      });
      if (!asked.current.has(shard)) void read(shard, undefined);
    },
    readMore: (shard: string): void => void read(shard, children.get(shard)?.next),
  };
}

interface ChildPage {
  readonly rows: readonly ShardRow[];
  readonly next: string | undefined;
}

function assemble(rows: readonly ShardRow[], children: ReadonlyMap<string, ChildPage>): TreeNode[] {
  return rows.map((row) => {
    const page = children.get(row.shard);
    return { row, children: page && assemble(page.rows, children), hasMore: page?.next !== undefined };
  });
}

interface TreeTableProps {
  readonly lines: readonly TreeLine[];
  readonly run: string;
  readonly onToggle: (shard: string) => void;
  readonly onMore: (shard: string) => void;
}

function TreeTable({ lines, run, onToggle, onMore }: TreeTableProps) {
  return (
    <DataTable summary={`Table: ${plural(lines.length, "shard")}, open one to see its children`}>
      <thead>
        <tr>
          <th scope="col">Shard</th>
          <th scope="col">State</th>
          <th scope="col">From</th>
          <th scope="col">To</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ node, depth, isOpen }) => (
          <tr key={node.row.shard}>
            <th scope="row">
              <span class="tree-row" style={{ paddingLeft: `${depth * 18}px` }}>
                {node.row.children > 0 ? (
                  <button
                    type="button"
                    class="tree-toggle"
                    aria-expanded={isOpen}
                    aria-label={`Children of ${shortId(node.row.shard)}`}
                    onClick={() => onToggle(node.row.shard)}
                  >
                    {isOpen ? "▾" : "▸"}
                  </button>
                ) : (
                  <span class="tree-toggle" />
                )}
                <ShardLink run={run} shard={node.row.shard} />
                {isOpen && node.hasMore && (
                  <button type="button" class="button small" onClick={() => onMore(node.row.shard)}>
                    More children
                  </button>
                )}
              </span>
            </th>
            <td>
              <StatePill state={node.row.state} />
            </td>
            <td class="mono">{startText(node.row.start)}</td>
            <td class="mono">{endText(node.row.end)}</td>
          </tr>
        ))}
      </tbody>
    </DataTable>
  );
}
