import { type U64Companion } from "@gossip/contracts";
import { u64Companion } from "@gossip/contracts/internal";
import type { Brand } from "@gossip/stdx";

/** Names one manifest of a source: a list of things to do, by row. An unsigned 64-bit integer. */
export type ManifestId = Brand<bigint, "ManifestId">;

export const ManifestId: U64Companion<ManifestId> = /* @__PURE__ */ u64Companion<ManifestId>("manifest id");

/** The number of a row within its manifest. An unsigned 64-bit integer. */
export type ManifestRow = Brand<bigint, "ManifestRow">;

export const ManifestRow: U64Companion<ManifestRow> = /* @__PURE__ */ u64Companion<ManifestRow>("manifest row");

/** Rows `[startRow, endRow)` of a manifest. */
export interface ManifestRange {
  readonly manifestId: ManifestId;
  readonly startRow: ManifestRow;
  readonly endRow: ManifestRow;
}
