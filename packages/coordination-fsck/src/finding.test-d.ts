import { expectTypeOf } from "vitest";
import type { FsckFinding } from "./finding.ts";

expectTypeOf<FsckFinding["kind"]>().toEqualTypeOf<
  | "UnreadableRecord"
  | "RecordFault"
  | "ShardsWithoutRun"
  | "Lineage"
  | "Coverage"
  | "LostProgress"
  | "MissingEntry"
  | "StrayEntry"
  | "WrongCount"
  | "WrongCensus"
  | "NotFoundByKey"
  | "NoteFault"
  | "NotesWithoutRun"
>();
