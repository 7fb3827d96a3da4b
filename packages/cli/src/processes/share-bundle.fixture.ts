// Runs once a test run, in the process that starts the tests: gives them one folder for the bundle of the command.
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL(`../../.cache/processes/run-${process.pid}`, import.meta.url));
const ALL = [FOLDER, `${FOLDER}.new`, `${FOLDER}.making`];

export async function setup(): Promise<void> {
  await teardown();
  await mkdir(dirname(FOLDER), { recursive: true });
  process.env["GOSSIP_TEST_BUNDLE"] = FOLDER;
}

export async function teardown(): Promise<void> {
  for (const folder of ALL) await rm(folder, { recursive: true, force: true });
}
