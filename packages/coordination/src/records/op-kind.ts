import { type PersistedEnum } from "@gossip/contracts";
import { persistedEnum } from "@gossip/contracts/internal";

/**
 * The operations that a shard remembers.
 *
 * | kind            | changes the status          | needs a lease |
 * | --------------- | --------------------------- | ------------- |
 * | `Checkpoint`    | no, the cursor advances     | yes           |
 * | `Complete`      | Active to Done              | yes           |
 * | `Park`          | Active to Parked            | yes           |
 * | `SplitReplace`  | Active to Split             | yes           |
 * | `SplitResidual` | no, the range narrows       | yes           |
 * | `Unpark`        | Parked to Active            | no            |
 * | `Release`       | no, the lease ends          | yes           |
 *
 * `Release` is an *addition*.
 */
export type OpKind = "Checkpoint" | "Complete" | "Park" | "SplitReplace" | "SplitResidual" | "Unpark" | "Release";

export const OpKind: PersistedEnum<OpKind> = /* @__PURE__ */ persistedEnum({
  Checkpoint: 0,
  Complete: 1,
  Park: 2,
  SplitReplace: 3,
  SplitResidual: 4,
  Unpark: 5,
  Release: 6,
});
