import type { GetRunError } from "@gossip/coordination-errors";
import { assert, ok, type Result } from "@gossip/stdx";
import {
  assertSettingsChange,
  noteOfHold,
  notesOfChange,
  settingOfNote,
  settingsOf,
  type RunSettings,
  type RunSettingsChange,
} from "../records/run-settings.ts";
import type { Engine } from "./engine.ts";
import { listNotes, writeNotes } from "./notes.ts";
import type { RunRequest } from "./queries.ts";

export interface ChangeRunSettingsRequest extends RunRequest {
  readonly change: RunSettingsChange;
}

export interface HoldRunRequest extends RunRequest {
  /** For how long no worker may start an item: up to a day. */
  readonly ms: number;
}

/** The longest time that a run can be held. */
export const MAX_HOLD_MS = 86_400_000;

export async function getRunSettings(
  engine: Engine,
  { tenant, run }: RunRequest,
): Promise<Result<RunSettings, GetRunError>> {
  const now = await engine.readClock("notes");
  if (!now.ok) return now;
  const page = await listNotes(engine, { tenant, run, space: "setting", parse: settingOfNote });
  return page.ok ? ok(settingsOf(page.value.items, now.value)) : page;
}

/**
 * Every setting has a note of its own, so two callers that change different settings do not undo each other's change. Of
 * two changes of one setting, the last write wins.
 */
export async function changeRunSettings(
  engine: Engine,
  { tenant, run, change }: ChangeRunSettingsRequest,
): Promise<Result<RunSettings, GetRunError>> {
  assertSettingsChange(change);
  const now = await engine.readClock("notes");
  if (!now.ok) return now;
  const before = await getRunSettings(engine, { tenant, run });
  if (!before.ok) return before;
  const notes = notesOfChange(change, before.value, now.value);
  if (notes.length === 0) return before;
  const written = await writeNotes(engine, { tenant, run }, notes);
  return written.ok ? getRunSettings(engine, { tenant, run }) : written;
}

/** A hold that is shorter than the one in effect changes nothing. */
export async function holdRun(engine: Engine, { tenant, run, ms }: HoldRunRequest): Promise<Result<void, GetRunError>> {
  assert(typeof ms === "number" && ms >= 0 && ms <= MAX_HOLD_MS, () => `ms of a hold must be from 0 to ${MAX_HOLD_MS}`);
  const now = await engine.readClock("notes");
  if (!now.ok) return now;
  const before = await getRunSettings(engine, { tenant, run });
  if (!before.ok) return before;
  if (before.value.heldForMs >= ms) return ok();
  return writeNotes(engine, { tenant, run }, [noteOfHold(Number(now.value) + Math.ceil(ms), now.value)]);
}
