import type { LogicalTime, WorkerId } from "@gossip/contracts";
import { JsonReader } from "@gossip/contracts/internal";
import type { InfraError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { decodeNoteValue, encodeNoteValue } from "../records/note-value.ts";

/** Most workers that can have a part of a run's budget at the same time. With them the book fits into a note. */
export const MAX_BUDGET_WORKERS = 256;

/** The part of a run's budget that one worker has. It returns to the run unless the worker renews it. */
export interface BudgetEntry {
  readonly worker: WorkerId;
  /** Items that it may start, as far as it has reported. */
  readonly items: number;
  /** Whether it could start more items than it was given. */
  readonly isHungry: boolean;
  /** Items that it may have in progress. */
  readonly slots: number;
  /** Items that it could have in progress. */
  readonly slotsWanted: number;
  /** How long after `at` of the book the entry ends. */
  readonly expiresInMs: number;
}

/** Who has which part of a run's budget. One note of the run, which every renewal replaces. */
export interface BudgetBook {
  /** When it was last changed. Never moves back by a little, so clocks that differ do not count time twice. */
  readonly at: LogicalTime;
  /** Items that may be started and that no worker was given. */
  readonly level: number;
  /** By worker. */
  readonly entries: readonly BudgetEntry[];
}

/** The name of the book among the settings of a run. */
export const BUDGET_KEY: Uint8Array = /* @__PURE__ */ new TextEncoder().encode("budget");

const readNumber: JsonReader<number> = (json, field) =>
  typeof json === "number" && json >= 0 ? ok(json) : err({ kind: "InvalidField", field, expected: "a number from 0" });

/** Short, because a book has up to 256 of them. */
type EntryJson = readonly [worker: string, items: number, isHungry: 0 | 1, slots: number, wanted: number, ms: number];

const readEntry: JsonReader<BudgetEntry> = (json, field) => {
  const bad = err({ kind: "InvalidField", field, expected: "an entry of a budget" } as const);
  if (!Array.isArray(json) || json.length !== 6) return bad;
  const [text, items, isHungry, slots, slotsWanted, expiresInMs] = json as unknown[];
  const worker = JsonReader.u64<WorkerId>(text, field);
  if (!worker.ok) return worker;
  const counts = [items, slots, slotsWanted, expiresInMs];
  if (!counts.every((count) => typeof count === "number" && count >= 0)) return bad;
  const [heldItems, heldSlots, wanted, ms] = counts as [number, number, number, number];
  return ok({
    worker: worker.value,
    items: heldItems,
    isHungry: isHungry === 1,
    slots: heldSlots,
    slotsWanted: wanted,
    expiresInMs: ms,
  });
};

const readBook: JsonReader<BudgetBook> = /* @__PURE__ */ JsonReader.object<BudgetBook>({
  at: JsonReader.u64,
  level: readNumber,
  entries: /* @__PURE__ */ JsonReader.array<BudgetEntry>(readEntry),
});

export function encodeBook({ at, level, entries }: BudgetBook): Uint8Array {
  const rows = entries.map(({ worker, items, isHungry, slots, slotsWanted, expiresInMs }): EntryJson => {
    const id = worker.toString(16).padStart(16, "0");
    return [id, items, isHungry ? 1 : 0, slots, slotsWanted, Math.ceil(expiresInMs)];
  });
  return encodeNoteValue({ at, level, entries: rows });
}

export function decodeBook(value: Uint8Array): Result<BudgetBook, InfraError> {
  return decodeNoteValue(value, readBook);
}
