import { resolve } from "node:path";
import type { ShardSpec } from "@gossip/contracts";
import { assert, assertCount, err, ok, type Result } from "@gossip/stdx";
import type { SourceError } from "../source-error.ts";
import type { ItemBatch, PlanRequest, ReadRequest, Source, SplitRequest } from "../source.ts";
import type { EstimateRequest, WorkEstimate } from "../work-estimate.ts";
import { makeRetrySchedule, type RetryInput, type RetrySchedule } from "../../policy/retry-schedule.ts";
import { countAhead } from "../count-ahead.ts";
import { assertPlanRequest, rangesBetween, shardsBetween } from "../range-shards.ts";
import { readBounds } from "../read-bounds.ts";
import { codeOf } from "../system-words.ts";
import type { FileItem } from "./file-item.ts";
import { asText } from "./path-bytes.ts";
import { pathIn } from "./folder-problem.ts";
import { listDirectory } from "./list-directory.ts";
import type { Tree, TreeCandidate } from "./tree.ts";
import { rootError } from "./tree-failure.ts";
import { surveyTree } from "./survey-tree.ts";
import { TreeRoot } from "./tree-root.ts";
import { walkTree } from "./walk-tree.ts";

export interface FileTreeOptions {
  /**
   * The folder. It may be a link to one, which is resolved once. Links below it are never followed, even if one replaces
   * a folder during the run. Neither is another folder or a link that replaces the folder itself, as long as this process
   * runs: reading then fails.
   */
  readonly root: string;
  /** What to do about a folder that cannot be listed: report and skip it (`skip`, the default), or fail the reading. */
  readonly onUnreadable?: "skip" | "stop";
  /** Returns true for files to leave out and folders not to enter. All workers must use the same function. */
  readonly exclude?: (candidate: TreeCandidate) => boolean;
  /** The most names of one folder to hold in memory. A larger folder is listed several times. Default: 200,000. */
  readonly namesHeld?: number;
  /**
   * How to retry listing a folder after a transient error, such as `EIO` or `ESTALE`, before it counts as unreadable.
   */
  readonly retry?: RetryInput;
}

const DEFAULT_NAMES_HELD = 200_000;
const NAMES_SAMPLED = 16_384;
const DEFAULT_RETRY: RetrySchedule = { maxAttempts: 6, baseMs: 100, factor: 2, maxMs: 2000, jitter: 0.5 };
/** Longer than any name that a file system allows, so a name of this many bytes is above every path. */
const LONGEST_NAME = 256;
const EVERYTHING = { start: Uint8Array.of(0), end: new Uint8Array(LONGEST_NAME).fill(0xff) };
const PARTS_COUNTED = 16;
const SLASH = 0x2f;

/**
 * The regular files below a folder, in byte order of their paths, like `find ROOT -type f`: no links, sockets, pipes or
 * devices. Files that are created or deleted during a reading may or may not be included.
 */
export function fileTreeSource(options: FileTreeOptions): Source<FileItem> {
  return new FileTreeSource(readOptions(options));
}

export class FileTreeSource implements Source<FileItem> {
  readonly name = "fs";
  readonly #tree: Tree;

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  async plan(request: PlanRequest): Promise<Result<readonly ShardSpec[], SourceError>> {
    assertPlanRequest(request);
    const { shardCount, signal } = request;
    try {
      return ok(shardsBetween(EVERYTHING, await this.#survey(shardCount, signal)));
    } catch (thrown) {
      signal?.throwIfAborted();
      // An error that the system did not report is a bug here or in `exclude`.
      if (codeOf(thrown) === undefined) throw thrown;
      return err(rootError(this.#tree.name, thrown));
    }
  }

  async *read(request: ReadRequest): AsyncGenerator<ItemBatch<FileItem>> {
    const bounds = readBounds(request);
    const { after, signal } = request;
    if (bounds !== undefined) yield* walkTree(this.#tree, { bounds, after, signal });
  }

  async splitPoint(request: SplitRequest): Promise<Uint8Array | undefined> {
    const bounds = readBounds(request);
    if (bounds === undefined) return undefined;
    try {
      const [point] = await surveyTree({ tree: this.#tree, bounds, partCount: 2 });
      return point;
    } catch (thrown) {
      // A split point is only advice. The reading will meet the same error and report it.
      if (codeOf(thrown) === undefined) throw thrown;
      return undefined;
    }
  }

  /**
   * Count the files in a walk of its own. A part of the count starts at a folder and not inside one: a large folder
   * would otherwise be listed for each of its parts.
   */
  async *estimate({ signal }: EstimateRequest): AsyncGenerator<WorkEstimate> {
    const points = await this.#survey(PARTS_COUNTED, signal);
    const parts = rangesBetween(
      EVERYTHING,
      points.filter((point) => point.at(-1) === SLASH),
    );
    yield* countAhead({ parts, read: (request) => this.read(request), signal });
  }

  describeKey(key: Uint8Array): string {
    const path = pathIn(key);
    return asText(path) ?? Buffer.from(path).toString("latin1");
  }

  #survey(partCount: number, signal: AbortSignal | undefined): Promise<readonly Uint8Array[]> {
    const bounds = { from: EVERYTHING.start, end: EVERYTHING.end };
    return surveyTree({ tree: this.#tree, bounds, partCount, signal });
  }
}

export function readOptions(options: FileTreeOptions): Tree {
  assert(
    typeof options === "object" && options !== null,
    () => `file tree options must be an object, got ${typeof options}`,
  );
  const { root, onUnreadable = "skip", exclude, namesHeld = DEFAULT_NAMES_HELD } = options;
  assert(typeof root === "string" && root.length > 0, "root must be the path of a folder");
  assert(onUnreadable === "skip" || onUnreadable === "stop", 'onUnreadable must be "skip" or "stop"');
  assert(exclude === undefined || typeof exclude === "function", "exclude must be a function");
  assertCount(namesHeld, "namesHeld", { min: 1, max: 2 ** 31 });
  const retry = makeRetrySchedule(options.retry ?? {}, { what: "retry of the file tree", defaults: DEFAULT_RETRY });
  return {
    name: root,
    root: pinnedRoot(resolve(root)),
    onUnreadable,
    exclude,
    namesHeld,
    namesSampled: NAMES_SAMPLED,
    retry,
    list: listDirectory,
  };
}

/** Pinned at once: whatever takes its place later is refused, also before the first reading. */
function pinnedRoot(path: string): TreeRoot {
  const root = new TreeRoot(Buffer.from(path));
  root.tryPin();
  return root;
}
