import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Whether the module is the program that Node was started with. */
export function isMain(moduleUrl: string): boolean {
  const program = process.argv[1];
  return program !== undefined && realpathSync(program) === fileURLToPath(moduleUrl);
}
