import { spawnSync } from "node:child_process";

const COMMANDS = ["sha256sum {}", "shasum -a 256 {}"];

/** The command of this machine that prints a file's SHA-256. */
export function hashCommand(): string {
  const found = COMMANDS.find((command) => spawnSync(command.split(" ")[0]!, ["--version"]).error === undefined);
  if (found === undefined) throw new Error("This machine has neither sha256sum nor shasum.");
  return found;
}
