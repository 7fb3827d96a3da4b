import type { GetRunError } from "@gossip/coordination-errors";
import { assert, assertBytes, ok, type Result } from "@gossip/stdx";
import type { Note } from "../records/note.ts";
import type { Engine } from "./engine.ts";
import { listNotes, writeNotes } from "./notes.ts";
import type { RunRequest } from "./queries.ts";

/** A document that the processes of a run share, such as an estimate of the work. It is advice: no rule depends on it. */
export interface RollupRequest extends RunRequest {
  /** Up to 64 lower-case letters, digits and hyphens. */
  readonly name: string;
}

export interface PutRollupRequest extends RollupRequest {
  /** A JSON document in UTF-8. `undefined` removes the document. */
  readonly value: Uint8Array | undefined;
}

const NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** Whether a rollup can have this name. */
export function isRollupName(name: unknown): name is string {
  return typeof name === "string" && NAME.test(name);
}

/** The document of this name, if there is one. */
export async function getRollup(
  engine: Engine,
  { tenant, run, name }: RollupRequest,
): Promise<Result<Uint8Array | undefined, GetRunError>> {
  const start = keyOf(name);
  // The least key above it.
  const end = Uint8Array.of(...start, 0);
  const page = await listNotes(engine, { tenant, run, space: "rollup", start, end, limit: 1, parse });
  return page.ok ? ok(page.value.items[0]) : page;
}

/** Store a document, or replace it. */
export async function putRollup(
  engine: Engine,
  { tenant, run, name, value }: PutRollupRequest,
): Promise<Result<void, GetRunError>> {
  if (value !== undefined) assertBytes(value, "value of a rollup");
  return writeNotes(engine, { tenant, run }, [{ space: "rollup", key: keyOf(name), value }]);
}

function parse({ value }: Note): Result<Uint8Array, never> {
  return ok(value);
}

function keyOf(name: string): Uint8Array {
  assert(isRollupName(name), "name of a rollup must be up to 64 lower-case letters, digits and hyphens");
  return new TextEncoder().encode(name);
}
