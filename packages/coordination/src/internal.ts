/**
 * For the other packages of this repository only. Anything here can change or disappear in any release,
 * without a major version. Published packages contain no types for this entry.
 *
 * @internal
 */
export { kernel } from "./kernel/kernel.ts";
export { findNoteFault } from "./records/note-fault.ts";
export { assertBudgetClaim } from "./coordinator/budget-notes.ts";
export { assertSettingsChange } from "./records/run-settings.ts";
export { firstUnknown } from "./records/op-log.ts";
export { findRunFault } from "./records/run-fault.ts";
export { findShardFault } from "./records/shard-fault.ts";
export { assertCommand, assertFlags, assertListing } from "./coordinator/assert-command.ts";
export { isRollupName } from "./coordinator/rollups.ts";
export { assertNoteWrites, noteKeyAfter } from "./records/note.ts";
export { isPaged } from "./records/run-record.ts";
export { measureClockSkew, type ClockSkew } from "./store/clock-skew.ts";
export { EventHub } from "./coordinator/event-hub.ts";
export { isLeaseGone } from "./session/lease-gone.ts";
export { Turns } from "./session/turns.ts";
