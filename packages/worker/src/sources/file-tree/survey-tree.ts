import { MAX_KEY_SIZE } from "@gossip/contracts";
import type { ReadBounds } from "../read-bounds.ts";
import { codeOf } from "../system-words.ts";
import { sampleDirectory } from "./list-directory.ts";
import { TreeFolders } from "./tree-folders.ts";
import { boundsBelow, concat, isExcluded, type Tree } from "./tree.ts";

/** A part of a tree that is not cut further, with its estimated size. */
interface Unit {
  readonly key: Uint8Array;
  readonly isFolder: boolean;
  readonly weight: number;
}

export interface SurveyRequest {
  readonly tree: Tree;
  readonly bounds: ReadBounds;
  /** The number of parts to cut the tree into. */
  readonly partCount: number;
  readonly signal?: AbortSignal | undefined;
}

/** The most folders to list, per part. */
const FOLDERS_PER_PART = 4;
const FEWEST_FOLDERS = 32;
/** With this many units the survey is precise enough. */
const ENOUGH_UNITS = 65_536;

/**
 * Keys that cut the tree within the bounds into parts of about equal size, judged by its upper levels.
 *
 * Folders are listed level by level, up to a limit; if a level has more, a sample from all of it is listed. A folder
 * that was not listed counts as much as the average of those that were. Throws the file system's error for the root.
 * Anything below it that cannot be read counts as empty.
 */
export async function surveyTree(request: SurveyRequest): Promise<readonly Uint8Array[]> {
  const folders = new TreeFolders(request.tree.root);
  try {
    return await survey({ ...request, folders });
  } finally {
    folders.close();
  }
}

interface Survey extends SurveyRequest {
  readonly folders: TreeFolders;
}

async function survey(request: Survey): Promise<readonly Uint8Array[]> {
  const { partCount } = request;
  let foldersLeft = Math.max(FEWEST_FOLDERS, partCount * FOLDERS_PER_PART);
  let foldersSeen = 1;
  let units = await unitsBelow(request, { key: new Uint8Array(0), weight: 1 });
  let entriesSeen = sum(units);

  while (foldersLeft > 0 && units.length < ENOUGH_UNITS) {
    const folderCount = units.filter(({ isFolder }) => isFolder).length;
    if (folderCount === 0) break;
    const stride = Math.ceil(folderCount / foldersLeft);
    let passed = 0;
    const deeper: Unit[] = [];
    // Replace each folder by its contents in place, which keeps the key order.
    for (const unit of units) {
      if (!unit.isFolder || passed++ % stride !== 0) {
        deeper.push(unit);
        continue;
      }
      const inside = await unitsBelowOrNone(request, unit);
      foldersLeft--;
      foldersSeen++;
      entriesSeen += sum(inside) / unit.weight;
      for (const part of inside) deeper.push(part);
    }
    units = deeper;
  }

  const folderWeight = Math.max(1, entriesSeen / foldersSeen);
  return cutByWeight(
    units.map((unit) => (unit.isFolder ? { ...unit, weight: unit.weight * folderWeight } : unit)),
    partCount,
  );
}

/** The keys of the units that start a new part. The first unit starts none. */
function cutByWeight(units: readonly Unit[], partCount: number): readonly Uint8Array[] {
  const total = sum(units);
  const cuts: Uint8Array[] = [];
  let passed = 0;
  let next = 1;
  for (const [index, { key, weight }] of units.entries()) {
    // A unit belongs to the part that most of it falls into.
    if (index > 0 && next < partCount && passed + weight / 2 >= (total * next) / partCount) {
      cuts.push(key);
      while (next < partCount && passed + weight / 2 >= (total * next) / partCount) next++;
    }
    passed += weight;
  }
  return cuts;
}

/** The contents of a folder. If it was sampled, each entry counts for several. */
async function unitsBelow(
  { tree, bounds, signal, folders }: Survey,
  { key: prefix, weight }: Pick<Unit, "key" | "weight">,
): Promise<Unit[]> {
  signal?.throwIfAborted();
  const { entries, stride } = await folders.use(prefix, (folder) =>
    sampleDirectory({ folder, ...boundsBelow(bounds, prefix), limit: tree.namesSampled, signal }),
  );
  return (
    entries
      .filter((entry) => !isExcluded(tree, prefix, entry))
      .map(({ name, isFolder }) => ({ key: concat(prefix, name), isFolder, weight: weight * stride }))
      // The walk reports longer ones as problems. They cannot be bounds.
      .filter(({ key }) => key.length <= MAX_KEY_SIZE)
  );
}

async function unitsBelowOrNone(request: Survey, unit: Unit): Promise<Unit[]> {
  try {
    return await unitsBelow(request, unit);
  } catch (thrown) {
    request.signal?.throwIfAborted();
    if (codeOf(thrown) === undefined) throw thrown;
    return [];
  }
}

function sum(units: readonly Unit[]): number {
  return units.reduce((total, { weight }) => total + weight, 0);
}
