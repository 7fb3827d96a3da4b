import { spawnSync } from "node:child_process";
import { join } from "node:path";

const COMMANDS = ["sha256sum {}", "shasum -a 256 {}"];
const MODULE = join(import.meta.dirname, "hash-file.mjs");

/** The options of `gossip run` that hash a file: a command of this machine, or a module where it has none. */
export function hashWork(): readonly [option: "--exec" | "--module", value: string] {
  const found = COMMANDS.find((command) => spawnSync(command.split(" ")[0]!, ["--version"]).error === undefined);
  return found === undefined ? ["--module", MODULE] : ["--exec", found];
}
