import { assert } from "@gossip/stdx";
import type { RunAddress } from "../layout/rows.ts";

/** Throws unless a record belongs to the run of its write set. */
export function assertOwn({ tenant, run }: RunAddress, record: RunAddress): void {
  assert(record.tenant === tenant && record.run === run, "a write set must hold records of its own run only");
}
