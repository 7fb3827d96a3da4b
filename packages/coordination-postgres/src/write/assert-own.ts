import { assert } from "@gossip/stdx";
import type { RunAddress } from "../layout/rows.ts";

/** Throw unless a record is of the run whose write set it is in. */
export function assertOwn({ tenant, run }: RunAddress, record: RunAddress): void {
  assert(record.tenant === tenant && record.run === run, "a write set must hold records of its own run only");
}
