import type { LogicalTime } from "@gossip/contracts";
import { JsonReader } from "@gossip/contracts/internal";
import type { InfraError } from "@gossip/coordination-errors";
import { assert, assertCount, compareBytes, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { BUDGET_KEY, decodeBook } from "../budget/budget-book.ts";
import { damagedNote, decodeNoteValue, encodeNoteValue } from "./note-value.ts";
import type { Note, NoteWrite } from "./note.ts";

/** The least rate that a run can be limited to: about one item in twelve days. */
export const MIN_ITEMS_PER_SECOND = 1e-6;
export const MAX_ITEMS_PER_SECOND = 1e9;
/** The highest limit of items in progress. */
export const MAX_FLEET_CONCURRENCY = 1_000_000;

/** What an operator may change while a run goes on. It applies to all workers of the run. *Addition.* */
export interface RunSettings {
  /** Whether workers take no items until the run is resumed. */
  readonly paused: boolean;
  /** Since when the run has been paused. `undefined` if it is not. */
  readonly pausedSince: LogicalTime | undefined;
  /** Most items that all workers start in a second. `null` if there is no limit. */
  readonly itemsPerSecond: number | null;
  /** Most items that all workers have in progress. `null` if there is no limit. */
  readonly concurrency: number | null;
  /** How long no worker starts an item, because a service asked for it. 0 if none did. See `holdRun`. */
  readonly heldForMs: number;
}

/** The settings to change. Those that are left out stay as they are. *Addition.* */
export interface RunSettingsChange {
  readonly paused?: boolean | undefined;
  readonly itemsPerSecond?: number | null | undefined;
  readonly concurrency?: number | null | undefined;
}

type SettingName = keyof RunSettingsChange | "heldUntil";

/** A setting as it is stored: a note under its name. A setting without a note has its default. */
export interface StoredSetting {
  readonly name: SettingName;
  readonly value: number | boolean;
  readonly at: LogicalTime;
}

type SettingDocument = Omit<StoredSetting, "name">;

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder();

const readValue: JsonReader<number | boolean> = (json, field) =>
  typeof json === "number" || typeof json === "boolean"
    ? ok(json)
    : err({ kind: "InvalidField", field, expected: "a number or a boolean" });

const readDocument: JsonReader<SettingDocument> = /* @__PURE__ */ JsonReader.object<SettingDocument>({
  value: readValue,
  at: JsonReader.u64,
});

const IS_VALID: Readonly<Record<SettingName, (value: unknown) => boolean>> = {
  paused: (value) => value === true,
  itemsPerSecond: (value) =>
    typeof value === "number" && value >= MIN_ITEMS_PER_SECOND && value <= MAX_ITEMS_PER_SECOND,
  heldUntil: (value) => typeof value === "number" && value >= 0,
  concurrency: (value) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_FLEET_CONCURRENCY,
};

/** Throws unless the change is well-formed and within the limits. */
export function assertSettingsChange(change: RunSettingsChange): void {
  assertObject(change, "change of settings");
  const { paused, itemsPerSecond, concurrency } = change;
  assert(paused === undefined || typeof paused === "boolean", "paused must be true or false");
  assert(
    itemsPerSecond === undefined || itemsPerSecond === null || IS_VALID.itemsPerSecond(itemsPerSecond),
    () => `itemsPerSecond must be null or a number from ${MIN_ITEMS_PER_SECOND} to ${MAX_ITEMS_PER_SECOND}`,
  );
  if (concurrency !== undefined && concurrency !== null)
    assertCount(concurrency, "concurrency", { min: 1, max: MAX_FLEET_CONCURRENCY });
}

/** The notes that make a change, without those that would change nothing. */
export function notesOfChange(
  { paused, itemsPerSecond, concurrency }: RunSettingsChange,
  before: RunSettings,
  at: LogicalTime,
): NoteWrite[] {
  const notes: NoteWrite[] = [];
  const set = (name: SettingName, value: number | boolean | null): void => void notes.push(noteOf(name, value, at));
  if (paused !== undefined && paused !== before.paused) set("paused", paused ? true : null);
  if (itemsPerSecond !== undefined && itemsPerSecond !== before.itemsPerSecond) set("itemsPerSecond", itemsPerSecond);
  if (concurrency !== undefined && concurrency !== before.concurrency) set("concurrency", concurrency);
  return notes;
}

/** The note that holds a run until a time of the coordinator. */
export function noteOfHold(untilMs: number, at: LogicalTime): NoteWrite {
  return noteOf("heldUntil", untilMs, at);
}

function noteOf(name: SettingName, value: number | boolean | null, at: LogicalTime): NoteWrite {
  const document = value === null ? undefined : encodeNoteValue({ value, at } satisfies SettingDocument);
  return { space: "setting", key: encoder.encode(name), value: document };
}

/** The setting in a note. `undefined` if it is the book of budgets, or if a later version of this program wrote it. */
export function settingOfNote({ key, value }: Note): Result<StoredSetting | undefined, InfraError> {
  const name = decoder.decode(key);
  if (compareBytes(key, BUDGET_KEY) === 0) {
    const book = decodeBook(value);
    return book.ok ? ok(undefined) : book;
  }
  if (!isSettingName(name)) {
    const any = decodeNoteValue(value, (json) => ok(json));
    return any.ok ? ok(undefined) : any;
  }
  const stored = decodeNoteValue(value, readDocument);
  if (!stored.ok) return stored;
  return IS_VALID[name](stored.value.value) ? ok({ name, ...stored.value }) : err(damagedNote());
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(IS_VALID, name);
}

/** The settings of a run that has these notes. */
export function settingsOf(stored: readonly (StoredSetting | undefined)[], now: LogicalTime): RunSettings {
  const find = (wanted: SettingName): StoredSetting | undefined => stored.find((setting) => setting?.name === wanted);
  const [pause, rate, concurrency] = [find("paused"), find("itemsPerSecond"), find("concurrency")];
  const heldUntil = (find("heldUntil")?.value as number | undefined) ?? 0;
  return {
    paused: pause !== undefined,
    pausedSince: pause?.at,
    itemsPerSecond: (rate?.value as number | undefined) ?? null,
    concurrency: (concurrency?.value as number | undefined) ?? null,
    heldForMs: Math.max(0, heldUntil - Number(now)),
  };
}
