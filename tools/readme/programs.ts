// The programs that shell blocks find on their path.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gossipScript } from "../../packages/cli/src/processes/gossip-bundle.fixture.ts";
import { packageFolder } from "../layers/layers.ts";

/**
 * Write the programs to `bin` below the folder, and return its path. `gossip` is one bundle of the sources, because the
 * command starts four times as fast from one file as from many; tools/packaging runs the command as it is shipped.
 * `tsoPorts` are where `npx gossip-tso serve` listens.
 */
export async function makePrograms(folder: string, tsoPorts?: readonly [string, string]): Promise<string> {
  const bin = join(folder, "bin");
  const node = JSON.stringify(process.execPath);
  const programs: Record<string, string> = { gossip: `exec ${node} ${JSON.stringify(await gossipScript())} "$@"` };
  if (tsoPorts !== undefined) programs["npx"] = oracle(node, tsoPorts);
  mkdirSync(bin);
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

/** A server runs on in the background, and the script goes on once it serves. */
function oracle(node: string, [tsoPort, httpPort]: readonly [string, string]): string {
  const program = JSON.stringify(join(packageFolder("tso-server"), "dist/bin/gossip-tso.js"));
  return `
[ "$1 $2" = "gossip-tso serve" ] || { echo "the example runner knows npx gossip-tso serve only" >&2; exit 64; }
shift
${node} ${program} "$@" --listen 127.0.0.1:${tsoPort} --http 127.0.0.1:${httpPort} >server.log 2>&1 &
until grep -q '^serving ' server.log; do kill -0 $! 2>&1 || { cat server.log >&2; exit 1; }; sleep 0.05; done`;
}
