import { jsonError } from "@gossip/contracts/internal";
import { assertBytes, compareBytes, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { HintPropagationError, SplitBoundary } from "./hint-error.ts";
import type { ManifestId } from "../keys/manifest-id.ts";
import { decodeManifestRowKey } from "../keys/manifest-row-key.ts";
import { prefixSuccessor } from "../arithmetic/successors.ts";
import { assertHint, ShardHint, type ManifestHint } from "./shard-hint.ts";

/** The range of a child. */
export interface ChildRange {
  readonly childStart: Uint8Array;
  readonly childEnd: Uint8Array;
}

type ChildHint = Result<ShardHint, HintPropagationError>;

/**
 * The hint of a child that a split cut out of a parent with `parentHint`.
 *
 * - `Range` stays `Range`, and nothing is checked.
 * - `Prefix` becomes `Range`: a part of the keys of a prefix generally has no prefix of its own. The child must lie
 *   inside the prefix.
 * - `Manifest` stays `Manifest` with the child's rows. Both bounds must be rows of the parent.
 */
export function propagateHintOnSplit(parentHint: ShardHint, child: ChildRange): ChildHint {
  assertHint(parentHint);
  assertObject(child, "child");
  assertBytes(child.childStart, "childStart");
  assertBytes(child.childEnd, "childEnd");
  switch (parentHint.kind) {
    case "Range":
      return ok(ShardHint.RANGE);
    case "Prefix":
      return partOfPrefix(parentHint.prefix, child);
    case "Manifest":
      return partOfManifest(parentHint, child);
  }
}

function partOfPrefix(prefix: Uint8Array, { childStart, childEnd }: ChildRange): ChildHint {
  const end = prefixSuccessor(prefix);
  if (end === undefined) return invalidPrefix("End");
  if (compareBytes(childStart, prefix) < 0 || compareBytes(childStart, end) >= 0) return invalidPrefix("Start");
  if (compareBytes(childEnd, prefix) <= 0 || compareBytes(childEnd, end) > 0) return invalidPrefix("End");
  if (compareBytes(childStart, childEnd) >= 0) return invalidPrefix("End");
  return ok(ShardHint.RANGE);
}

function partOfManifest(parent: ManifestHint, { childStart, childEnd }: ChildRange): ChildHint {
  const { manifestId } = parent;
  const start = decodeManifestRowKey(childStart);
  if (start === undefined) return invalidManifest("Start");
  const end = decodeManifestRowKey(childEnd);
  if (end === undefined) return invalidManifest("End");
  if (start.manifestId !== manifestId) return otherManifest(manifestId, start.manifestId);
  if (end.manifestId !== manifestId) return otherManifest(manifestId, end.manifestId);
  if (start.row < parent.startRow || start.row >= parent.endRow) return invalidManifest("Start");
  if (end.row <= parent.startRow || end.row > parent.endRow) return invalidManifest("End");
  if (start.row >= end.row) return err(jsonError({ kind: "EmptyManifestRange", startRow: start.row, endRow: end.row }));
  return ok({ kind: "Manifest", manifestId, startRow: start.row, endRow: end.row });
}

function invalidPrefix(boundary: SplitBoundary): ChildHint {
  return err({ kind: "InvalidPrefixBoundary", boundary });
}

function invalidManifest(boundary: SplitBoundary): ChildHint {
  return err({ kind: "InvalidManifestBoundary", boundary });
}

function otherManifest(parent: ManifestId, child: ManifestId): ChildHint {
  return err(jsonError({ kind: "ManifestIdMismatch", parent, child }));
}
