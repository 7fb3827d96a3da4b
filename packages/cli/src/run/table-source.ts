import { type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";
import type { JobSource } from "./job-source.ts";

/** Open the rows of a table: `postgres://…/database#schema.table`. */
export async function openTable(_text: string): Promise<Result<JobSource, CliError>> {
  return fail("BadCommandLine", "tables are not here yet: use fs: or lines:.");
}
