import { encodeBase64Url } from "@gossip/stdx/internal";
import { count, id, object, oneOf, prefix, type JsonObject, type Reader } from "./json-shape.ts";
import type { FinishedMigration, MigrationState } from "../move/migration.ts";

/** A move as JSON. Fields in a fixed order, so that equal moves have equal text. */
export function migrationToJson(state: MigrationState & Partial<FinishedMigration>): JsonObject {
  const { id, from, to, address, deadlineMs, number, epoch, inner, outcome, endEpoch } = state;
  const prefix = encodeBase64Url(state.prefix);
  return { id, prefix, from, to, address, deadlineMs, number, epoch, inner: inner || undefined, outcome, endEpoch };
}

const STATE = {
  id,
  prefix,
  from: id,
  to: id,
  address: id,
  deadlineMs: count(0),
  number: count(1),
  epoch: count(1),
  inner: id,
};
const ABSENT = { address: undefined, inner: "" };

export const migrationFromJson: Reader<MigrationState> = object(STATE, ABSENT);

const readFinished = object({ ...STATE, outcome: oneOf("Committed", "Aborted"), endEpoch: count(1) }, ABSENT);

export function finishedFromJson(value: unknown): FinishedMigration | undefined {
  const state = readFinished(value);
  return state !== undefined && state.endEpoch > state.epoch ? state : undefined;
}
