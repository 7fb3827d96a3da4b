import { encodeBase64Url } from "@gossip/stdx/internal";
import { readCount, readId, readObject, readPrefix, type JsonObject } from "./json-shape.ts";
import { isFinished, type FinishedMigration, type MigrationState } from "../move/migration.ts";

const STATE_FIELDS = ["id", "prefix", "from", "to", "address", "deadlineMs", "number", "epoch", "inner"];
const FINISHED_FIELDS = [...STATE_FIELDS, "outcome", "endEpoch"];

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

export function migrationFromJson(value: unknown): MigrationState | undefined {
  return stateFrom(readObject(value, STATE_FIELDS));
}

export function finishedFromJson(value: unknown): FinishedMigration | undefined {
  const json = readObject(value, FINISHED_FIELDS);
  const state = stateFrom(json);
  if (json === undefined || state === undefined) return undefined;
  const outcome = json["outcome"];
  const endEpoch = readCount(json["endEpoch"], state.epoch + 1);
  if ((outcome !== "Committed" && outcome !== "Aborted") || endEpoch === undefined) return undefined;
  return { ...state, outcome, endEpoch };
}

function stateFrom(json: JsonObject | undefined): MigrationState | undefined {
  if (json === undefined) return undefined;
  const id = readId(json["id"]);
  const prefix = readPrefix(json["prefix"]);
  const from = readId(json["from"]);
  const to = readId(json["to"]);
  const address = json["address"] === undefined ? undefined : readId(json["address"]);
  const deadlineMs = readCount(json["deadlineMs"], 0);
  const number = readCount(json["number"], 1);
  const epoch = readCount(json["epoch"], 1);
  const inner = json["inner"] === undefined ? "" : readId(json["inner"]);
  if (id === undefined || prefix === undefined || from === undefined || to === undefined) return undefined;
  if (deadlineMs === undefined || number === undefined || epoch === undefined || inner === undefined) return undefined;
  if (json["address"] !== undefined && address === undefined) return undefined;
  return { id, prefix, from, to, address, deadlineMs, number, epoch, inner };
}
