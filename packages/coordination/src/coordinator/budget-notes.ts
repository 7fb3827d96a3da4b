import { U64_MAX, type LogicalTime } from "@gossip/contracts";
import { coordError, type GetRunError, type InfraError } from "@gossip/coordination-errors";
import { assert, assertCount, compareBytes, err, ok, type Result } from "@gossip/stdx";
import { BUDGET_KEY, decodeBook, encodeBook, type BudgetBook } from "../budget/budget-book.ts";
import { emptyBook, grantBudget, returnBudget, type BudgetClaim, type BudgetGrant } from "../budget/grant-budget.ts";
import type { Note } from "../records/note.ts";
import { settingOfNote, settingsOf, type RunSettings } from "../records/run-settings.ts";
import type { Attempts, Engine } from "./engine.ts";
import { listNotes } from "./notes.ts";
import type { RunRequest } from "./queries.ts";
import type { WorkerRequest } from "./worker-notes.ts";

/** What a worker has of the run's budget, and what it could use. */
export interface RenewBudgetRequest extends WorkerRequest, Omit<BudgetClaim, "worker"> {
  /** How long the grant lasts unless it is renewed, in units of the clock. */
  readonly ttl: bigint;
}

export interface ReturnBudgetRequest extends WorkerRequest {
  /** Items that the worker was given and did not start. */
  readonly returned: number;
}

/** The settings of the run, and what the worker may do until it asks again. */
export interface BudgetRenewal {
  readonly settings: RunSettings;
  /** `undefined` if the run has no limits. */
  readonly grant: BudgetGrant | undefined;
}

const MAX_COUNT = Number.MAX_SAFE_INTEGER;

/** Throws unless the request is well-formed. */
export function assertBudgetClaim(request: Omit<RenewBudgetRequest, "tenant" | "run" | "worker">): void {
  const { held, returned, wanted, slots, slotsWanted, ttl } = request;
  for (const [name, count] of Object.entries({ held, returned, wanted, slots, slotsWanted }))
    assertCount(count, `${name} of a budget`, { min: 0, max: MAX_COUNT });
  assert(typeof ttl === "bigint" && ttl > 0n && ttl <= U64_MAX, "ttl must be a bigint from 1 to 2^64 - 1");
}

/**
 * Renew the part of a run's budget that a worker has. The book of the run is replaced under a guard, so what all workers
 * have together never exceeds the limits.
 */
export async function renewBudget(
  engine: Engine,
  request: RenewBudgetRequest,
): Promise<Result<BudgetRenewal, GetRunError>> {
  assertBudgetClaim(request);
  return changeBook<BudgetRenewal>(engine, request, ({ settings, book, now }) => {
    const { itemsPerSecond, concurrency } = settings;
    if (itemsPerSecond === null && concurrency === null)
      return { book: undefined, value: { settings, grant: undefined } };
    const time = { now, ttlMs: Number(request.ttl) };
    const granted = grantBudget(book, request, { limits: settings, time });
    return { book: granted.book, value: { settings, grant: granted.grant } };
  });
}

/** Give back what a worker has of a run's budget, because it stops. Otherwise its part ends by itself. */
export async function returnBudgetOf(engine: Engine, request: ReturnBudgetRequest): Promise<Result<void, GetRunError>> {
  assertCount(request.returned, "items to return", { min: 0, max: MAX_COUNT });
  return changeBook(engine, request, ({ settings, book, now }) => ({
    book: book.entries.some(({ worker }) => worker === request.worker)
      ? returnBudget(book, request, { limits: settings, now })
      : undefined,
    value: undefined,
  }));
}

interface BookRead {
  readonly settings: RunSettings;
  readonly book: BudgetBook;
  readonly now: LogicalTime;
}

/** Read the book, change it, and write it if no other worker has written it meanwhile. `undefined` writes nothing. */
async function changeBook<T>(
  engine: Engine,
  { tenant, run }: RunRequest,
  change: (read: BookRead) => { readonly book: BudgetBook | undefined; readonly value: T },
): Promise<Result<T, GetRunError>> {
  const attempts: Attempts = { operation: "notes", count: 0 };
  for (;;) {
    const now = await engine.readClock("notes");
    if (!now.ok) return now;
    const page = await listNotes(engine, { tenant, run, space: "setting", parse: (note: Note) => ok(note) });
    if (!page.ok) return page;
    const read = readBook(page.value.items, now.value);
    if (!read.ok) return err(coordError("BackendError", { reason: read.error }));
    const { book, value } = change(read.value);
    if (book === undefined) return ok(value);
    const note = { space: "setting", key: BUDGET_KEY, value: encodeBook(book), guard: read.value.guard } as const;
    const answer = await engine.commit({ kind: "WriteNotes", tenant, run, notes: [note] });
    if (answer.kind === "Committed") return ok(value);
    const again =
      answer.kind === "Conflict" || !("error" in answer)
        ? await engine.retryAfterConflict(attempts)
        : await engine.retryAfter(attempts, answer.error);
    if (!again.ok) return again;
  }
}

function readBook(
  notes: readonly Note[],
  now: LogicalTime,
): Result<BookRead & { readonly guard: Uint8Array | "absent" }, InfraError> {
  const stored = [];
  for (const note of notes) {
    const setting = settingOfNote(note);
    if (!setting.ok) return setting;
    stored.push(setting.value);
  }
  const note = notes.find(({ key }) => compareBytes(key, BUDGET_KEY) === 0);
  const book = note === undefined ? ok(emptyBook(now)) : decodeBook(note.value);
  if (!book.ok) return book;
  return ok({ settings: settingsOf(stored, now), book: book.value, now, guard: note?.value ?? "absent" });
}
