import { MAX_KEY_SIZE } from "@gossip/contracts";
import type { ReadBounds } from "../read-bounds.ts";
import { codeOf } from "../system-words.ts";
import { joinPath } from "./file-item.ts";
import { sampleDirectory } from "./list-directory.ts";
import { boundsBelow, concat, isExcluded, type Tree } from "./tree.ts";

/** A part of a tree that is not cut further, and how much it is taken to hold. */
interface Unit {
  readonly key: Uint8Array;
  readonly isFolder: boolean;
  weight: number;
}

export interface SurveyRequest {
  readonly tree: Tree;
  readonly bounds: ReadBounds;
  /** Into how many parts the tree is to be cut. */
  readonly partCount: number;
  readonly signal?: AbortSignal | undefined;
}

/** Units a part: with fewer, one unit more or less is a large share of a part. */
const UNITS_PER_PART = 16;
/** Folders a part that are looked into at most. */
const FOLDERS_PER_PART = 4;
const FEWEST_FOLDERS = 32;
/** Names a folder is judged by. */
const NAMES_SAMPLED = 16_384;

/**
 * Keys that cut what is in the bounds into parts of about equal size, as far as a look at the top tells.
 *
 * Folders are looked into level by level, until there are units enough or the look has become long. A folder
 * that was not looked into counts as much as those that were hold on average. Throws what the file system says
 * of the root; anything below that cannot be read holds nothing.
 */
export async function surveyTree(request: SurveyRequest): Promise<readonly Uint8Array[]> {
  const { partCount } = request;
  const unitsWanted = partCount * UNITS_PER_PART;
  let foldersLeft = Math.max(FEWEST_FOLDERS, partCount * FOLDERS_PER_PART);
  let foldersSeen = 1;
  let units = await unitsBelow(request, new Uint8Array(0));
  let entriesSeen = sum(units);

  // A level at a time, each folder replaced by what it holds, so that the order of the keys stays.
  for (let hasDeeper = true; hasDeeper && units.length < unitsWanted && foldersLeft > 0; ) {
    hasDeeper = false;
    const deeper: Unit[] = [];
    for (const unit of units) {
      if (!unit.isFolder || foldersLeft === 0) {
        deeper.push(unit);
        continue;
      }
      foldersLeft--;
      const inside = await unitsBelowOrNone(request, unit.key);
      foldersSeen++;
      entriesSeen += sum(inside);
      hasDeeper ||= inside.some(({ isFolder }) => isFolder);
      for (const part of inside) deeper.push(part);
    }
    units = deeper;
  }

  const folderWeight = Math.max(1, entriesSeen / foldersSeen);
  for (const unit of units) if (unit.isFolder) unit.weight *= folderWeight;
  return cutByWeight(units, partCount);
}

/** The keys of the units at which a new part begins. The first unit begins none. */
function cutByWeight(units: readonly Unit[], partCount: number): readonly Uint8Array[] {
  const total = sum(units);
  const cuts: Uint8Array[] = [];
  let passed = 0;
  let next = 1;
  for (const [index, { key, weight }] of units.entries()) {
    // A unit goes where most of it belongs.
    if (index > 0 && next < partCount && passed + weight / 2 >= (total * next) / partCount) {
      cuts.push(key);
      while (next < partCount && passed + weight / 2 >= (total * next) / partCount) next++;
    }
    passed += weight;
  }
  return cuts;
}

async function unitsBelow({ tree, bounds, signal }: SurveyRequest, prefix: Uint8Array): Promise<Unit[]> {
  signal?.throwIfAborted();
  const folder = prefix.length === 0 ? tree.root : joinPath(tree.root, prefix);
  const { entries, stride } = await sampleDirectory({ folder, ...boundsBelow(bounds, prefix), limit: NAMES_SAMPLED, signal });
  return entries
    .filter((entry) => !isExcluded(tree, prefix, entry))
    .map(({ name, isFolder }) => ({ key: concat(prefix, name), isFolder, weight: stride }))
    // Longer ones are problems of whoever walks, and no bounds.
    .filter(({ key }) => key.length <= MAX_KEY_SIZE);
}

async function unitsBelowOrNone(request: SurveyRequest, prefix: Uint8Array): Promise<Unit[]> {
  try {
    return await unitsBelow(request, prefix);
  } catch (thrown) {
    request.signal?.throwIfAborted();
    if (codeOf(thrown) === undefined) throw thrown;
    return [];
  }
}

function sum(units: readonly Unit[]): number {
  return units.reduce((total, { weight }) => total + weight, 0);
}
