import type { Note, NoteWrite } from "@gossip/coordination";
import { decodeBase64Url, encodeBase64Url } from "@gossip/stdx/internal";
import { decodeLeaseNote, LEASE_NOTES, type LeaseEvent, type LeaseLog } from "./lease-log.ts";
import { Rollups, TIERS, type Tier } from "./rollups.ts";

export const HISTORY_SPACE = "rollup";
const PREFIX = "history/";
/** All keys of the history are from here on, and below the end. */
export const HISTORY_START: Uint8Array = /* @__PURE__ */ bytesOf(PREFIX);
export const HISTORY_END: Uint8Array = /* @__PURE__ */ bytesOf("history0");

/** The figures of the process that writes the history, so that every display shows the same. */
export interface RunFigures {
  readonly fraction?: number | undefined;
  readonly perSecond?: number | undefined;
  readonly remainingMs?: number | undefined;
}

/** Which process writes the history of a run, and until when unless it says so again. Advisory. */
export interface HistoryWriter extends RunFigures {
  readonly writer: string;
  readonly atMs: number;
  readonly untilMs: number;
}

/** The note of one part of a tier. Notes are used in turn, so their number is bounded. */
export function noteOfSteps(
  rollups: Rollups,
  { tier, note }: { readonly tier: Tier; readonly note: number },
): NoteWrite {
  const { name, stepMs, steps, stepsPerNote } = tier;
  const all = rollups.steps(stepMs);
  const rows: unknown[] = [];
  for (let index = note * stepsPerNote; index < (note + 1) * stepsPerNote; index++) {
    const step = all.get(index);
    if (step === undefined) continue;
    const { items, failures, workers, heat } = step;
    rows.push([index, round(items), round(failures), workers, heat.shift, encodeBase64Url(heat.bytes)]);
  }
  const ring = Math.ceil(steps / stepsPerNote) + 1;
  return noteWrite(`${PREFIX}${name}/${String(note % ring).padStart(2, "0")}`, { version: 1, stepMs, rows });
}

export function noteOfLeases(log: LeaseLog, note: number): NoteWrite {
  return noteWrite(`${PREFIX}leases/${String(note % LEASE_NOTES).padStart(2, "0")}`, log.encodeNote(note));
}

export function noteOfWriter(writer: HistoryWriter): NoteWrite {
  return noteWrite(`${PREFIX}writer`, { version: 1, ...writer });
}

/** What the notes of a run hold. Notes that cannot be read are left out: a history is advice. */
export interface ReadNotes {
  readonly rollups: Rollups;
  readonly leases: { readonly first: number; readonly events: readonly LeaseEvent[] };
  readonly writer: HistoryWriter | undefined;
}

export function readNotes(notes: readonly Note[]): ReadNotes {
  const rows: StoredRow[] = [];
  const leases: NonNullable<ReturnType<typeof decodeLeaseNote>>[] = [];
  let writer: HistoryWriter | undefined;
  for (const { key, value } of notes) {
    const name = new TextDecoder().decode(key).slice(PREFIX.length);
    const json = parse(value);
    if (name === "writer") writer = decodeWriter(json);
    else if (name.startsWith("leases/")) pushIfRead(leases, decodeLeaseNote(json));
    else rows.push(...rowsOf(json));
  }
  const rollups = new Rollups();
  // In the order of time: a tier forgets what is too old for its newest step.
  for (const { stepMs, row } of rows.toSorted((a, b) => a.row[0] - b.row[0])) {
    const [index, items, failures, workers, shift, heat] = row;
    const bytes = decodeBase64Url(heat) ?? new Uint8Array(0);
    rollups.put(stepMs, index, { items, failures, workers, heat: { bytes, shift } });
  }
  return { rollups, leases: joinLeases(leases), writer };
}

type Row = readonly [index: number, items: number, failures: number, workers: number, shift: number, heat: string];

interface StoredRow {
  readonly stepMs: number;
  readonly row: Row;
}

function rowsOf(json: unknown): StoredRow[] {
  const { version, stepMs, rows } = (json ?? {}) as Record<string, unknown>;
  if (version !== 1 || !TIERS.some((tier) => tier.stepMs === stepMs) || !Array.isArray(rows)) return [];
  return (rows as unknown[]).filter(isRow).map((row) => ({ stepMs: stepMs as number, row }));
}

function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || row.length < 6) return false;
  const [index, items, failures, workers, shift, heat] = row as unknown[];
  return (
    [index, items, failures, workers].every((value) => Number.isFinite(value) && (value as number) >= 0) &&
    Number.isInteger(shift) &&
    (shift as number) >= 0 &&
    (shift as number) <= 11 &&
    typeof heat === "string"
  );
}

/** Join the notes of the ring in the order of their events. A note of an earlier round is older, and comes first. */
function joinLeases(notes: readonly { readonly first: number; readonly events: readonly LeaseEvent[] }[]) {
  const sorted = notes.toSorted((a, b) => a.first - b.first);
  // What comes before a gap belongs to a round that was overwritten since.
  let start = 0;
  for (let index = 1; index < sorted.length; index++) {
    const before = sorted[index - 1]!;
    if (before.first + before.events.length !== sorted[index]!.first) start = index;
  }
  const kept = sorted.slice(start);
  return { first: kept[0]?.first ?? 0, events: kept.flatMap(({ events }) => events) };
}

function decodeWriter(json: unknown): HistoryWriter | undefined {
  const { version, writer, atMs, untilMs, ...rest } = (json ?? {}) as Record<string, unknown>;
  if (version !== 1 || typeof writer !== "string" || typeof atMs !== "number" || typeof untilMs !== "number")
    return undefined;
  const number = (name: string): number | undefined => (typeof rest[name] === "number" ? rest[name] : undefined);
  const [fraction, perSecond, remainingMs] = [number("fraction"), number("perSecond"), number("remainingMs")];
  return { writer, atMs, untilMs, fraction, perSecond, remainingMs };
}

function noteWrite(name: string, document: object): NoteWrite {
  return { space: HISTORY_SPACE, key: bytesOf(name), value: bytesOf(JSON.stringify(document)) };
}

function parse(value: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(value)) as unknown;
  } catch {
    return undefined;
  }
}

function pushIfRead<T>(list: T[], item: T | undefined): void {
  if (item !== undefined) list.push(item);
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
