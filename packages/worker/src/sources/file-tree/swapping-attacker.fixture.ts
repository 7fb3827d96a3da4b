import { spawn } from "node:child_process";
import { once } from "node:events";

/** Swaps a folder and a link as fast as it can, until it is killed. */
const PROGRAM = `
  const { renameSync } = require("node:fs");
  const [folder, link, spare] = process.argv.slice(1);
  process.stdout.write("ready");
  for (;;) {
    renameSync(folder, spare);
    renameSync(link, folder);
    renameSync(folder, link);
    renameSync(spare, folder);
  }
`;

/** A process that swaps a folder with a link. */
export interface Attacker {
  stop(): Promise<void>;
}

export async function startAttacker({
  folder,
  link,
  spare,
}: {
  readonly folder: string;
  readonly link: string;
  /** Where the folder is while the link has its place. */
  readonly spare: string;
}): Promise<Attacker> {
  const child = spawn(process.execPath, ["-e", PROGRAM, folder, link, spare], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  return {
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
