import { encodeBase64Url } from "@gossip/stdx/internal";
import { count, id, object, oneOf, prefix, type JsonObject, type Reader } from "./json-shape.ts";
import { isFinished, type FinishedMigration, type MigrationState } from "../move/migration.ts";

/** A move as JSON. Fields in a fixed order, so that equal moves have equal text. */
export function migrationToJson(state: MigrationState | FinishedMigration): JsonObject {
  const { id, prefix, from, to, address, deadlineMs, number, epoch, inner } = state;
  const start = {
    id,
    prefix: encodeBase64Url(prefix),
    from,
    to,
    ...(address === undefined ? {} : { address }),
    deadlineMs,
    number,
    epoch,
    ...(inner === "" ? {} : { inner }),
  };
  return isFinished(state) ? { ...start, outcome: state.outcome, endEpoch: state.endEpoch } : start;
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
