import { prefixSuccessor } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import type { ReadBounds } from "@gossip/worker";

/** The first keys of a range, and whether there are no others. */
export interface KeySample {
  readonly keys: readonly Uint8Array[];
  readonly isAll: boolean;
}

/** At most `limit` keys from `from` on, below `end`. */
export type TakeSample = (bounds: ReadBounds, limit: number) => Promise<KeySample>;

/** A part of a range. Spans are adjacent, in order. */
export interface SurveyedSpan {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  /** Counted, or a guess that is comparable with those of other spans. */
  readonly items: number;
  readonly isExact: boolean;
}

export interface SurveyRequest {
  /** Both ends are bounds. */
  readonly bounds: ReadBounds;
  /** How many spans are enough. */
  readonly spanCount: number;
  readonly take: TakeSample;
}

/** Keys of a sample: a response of one packet or two. */
const SAMPLE_SIZE = 50;
/** Branches that are opened at the same time. */
const AT_ONCE = 8;
/** Rounds without enough spans: each looks at least one byte further into the keys. */
const MAX_ROUNDS = 64;

/** A part with more keys than fit into a sample. */
interface Branch extends ReadBounds {
  readonly first: Uint8Array;
  /** How many bytes its keys have in common, at least. */
  readonly depth: number;
  /** Its expected share of all keys. */
  readonly share: number;
}

/**
 * Finds out where keys are, by listing a few of them at well-chosen points.
 *
 * Keys form a tree by their bytes. A sample at the beginning of a branch shows its first keys; the next sample begins
 * right behind the branch of the last of them. So every sample finds keys, however unevenly they are spread, and where
 * delimiters are plays no role. The branches with the largest shares are opened first. The branches of one branch are
 * taken as equally large unless they were counted.
 */
export async function surveyKeys({ bounds, spanCount, take }: SurveyRequest): Promise<readonly SurveyedSpan[]> {
  const counted: SurveyedSpan[] = [];
  let open: Branch[] = [];
  const sample = await take(bounds, SAMPLE_SIZE);
  if (sample.isAll) counted.push({ start: bounds.from, end: bounds.end, items: sample.keys.length, isExact: true });
  else open.push({ ...bounds, first: sample.keys[0]!, depth: commonStart(bounds), share: 1 });
  let fanOut = 1;
  for (let round = 0; round < MAX_ROUNDS && open.length > 0 && open.length + counted.length < spanCount; round++) {
    open.sort((a, b) => b.share - a.share);
    // As many as are expected to be enough: each costs a request for every branch in it.
    const missing = Math.ceil((spanCount - open.length - counted.length) / fanOut);
    const chosen = open.slice(0, Math.min(AT_ONCE, missing));
    const opened = await Promise.all(chosen.map((branch) => openBranch(branch, take)));
    open = open.slice(chosen.length);
    fanOut = Math.max(1, ...opened.map(({ branches }) => branches.length - 1));
    for (const parts of opened) {
      counted.push(...parts.counted);
      open.push(...parts.branches);
    }
  }
  return [...counted, ...guessed(open, counted)].sort((a, b) => compareBytes(a.start, b.start));
}

interface OpenedBranch {
  readonly counted: readonly SurveyedSpan[];
  readonly branches: readonly Branch[];
}

/** Divides a branch by the first byte in which its keys differ. */
async function openBranch(branch: Branch, take: TakeSample): Promise<OpenedBranch> {
  const depth = await commonLength(branch, take);
  const { end, share } = branch;
  const counted: SurveyedSpan[] = [];
  const branches: Omit<Branch, "share">[] = [];
  for (let from = branch.from; compareBytes(from, end) < 0;) {
    const { keys, isAll } = await take({ from, end }, SAMPLE_SIZE);
    // The last key's branch may go on behind the sample; those before it are complete.
    const last = isAll ? undefined : beginningOf(keys.at(-1)!, depth + 1);
    const complete = last === undefined ? keys.length : keys.findIndex((key) => compareBytes(key, last) >= 0);
    const until = last === undefined ? end : greatest(last, from);
    if (complete > 0 || isAll) counted.push({ start: from, end: until, items: complete, isExact: true });
    if (last === undefined) break;
    const behind = least(prefixSuccessor(last), end);
    branches.push({ from: complete > 0 ? until : from, end: behind, first: keys[complete]!, depth: depth + 1 });
    from = behind;
  }
  return { counted, branches: branches.map((each) => ({ ...each, share: share / branches.length })) };
}

/**
 * How many bytes all keys of a branch have in common. The longer a beginning of the first key is, the more keys do not
 * have it: the longest that all have can be searched for.
 */
async function commonLength({ first, end, depth }: Branch, take: TakeSample): Promise<number> {
  let [low, high, step] = [Math.min(depth, first.length), first.length, 1];
  let isBounded = false;
  while (low < high) {
    // Most branches divide soon, so the first steps are short.
    const middle = isBounded ? (low + high + 1) >>> 1 : Math.min(high, low + step);
    const behind = least(prefixSuccessor(first.subarray(0, middle)), end);
    const isCommon = compareBytes(behind, end) >= 0 || (await take({ from: behind, end }, 1)).keys.length === 0;
    if (isCommon) low = middle;
    else high = middle - 1;
    isBounded ||= !isCommon;
    step *= 2;
  }
  return low;
}

/** How many bytes all keys of a range have in common because of its bounds. */
function commonStart({ from, end }: ReadBounds): number {
  const successor = (length: number): Uint8Array | undefined => prefixSuccessor(from.subarray(0, length));
  let length = 0;
  while (length < from.length) {
    const behind = successor(length + 1);
    if (behind === undefined || compareBytes(end, behind) > 0) break;
    length++;
  }
  return length;
}

/** Branches that were not counted: the smallest has at least what did not fit into a sample. */
function guessed(open: readonly Branch[], counted: readonly SurveyedSpan[]): SurveyedSpan[] {
  const smallest = Math.min(...open.map(({ share }) => share));
  const atLeast = Math.max(SAMPLE_SIZE, ...counted.map(({ items }) => items));
  return open.map(({ from, end, share }) => ({
    start: from,
    end,
    items: (share / smallest) * atLeast,
    isExact: false,
  }));
}

/** The points that cut what was surveyed into parts that are about equal: ascending, each inside the range. */
export function evenPoints(spans: readonly SurveyedSpan[], partCount: number): Uint8Array[] {
  const total = spans.reduce((sum, { items }) => sum + items, 0);
  const points: Uint8Array[] = [];
  let before = 0;
  for (const { start, items } of spans) {
    // A part begins with the span that has its middle in it.
    const part = Math.min(partCount - 1, Math.floor(((before + items / 2) / total) * partCount));
    if (part > points.length && before > 0) points.push(start);
    before += items;
  }
  return points;
}

function beginningOf(key: Uint8Array, length: number): Uint8Array {
  return key.subarray(0, length);
}

function least(a: Uint8Array | undefined, b: Uint8Array): Uint8Array {
  return a === undefined || compareBytes(b, a) < 0 ? b : a;
}

function greatest(a: Uint8Array, b: Uint8Array): Uint8Array {
  return compareBytes(a, b) < 0 ? b : a;
}
