// The command as one tarball: npm installs it with nothing but the registry, because our packages travel inside it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, runOrThrow } from "../packaging/run.ts";

/** The package that has the `gossip` command. */
export const COMMAND = "cli";

interface PackedManifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Writes a tarball of the command to `target`. `tarballs` holds the packed packages by name, without `@gossip/`.
 *
 * The packages that the command needs go into its `node_modules` as bundled dependencies. Their npm dependencies become
 * dependencies of the command, and of the command alone: npm takes everything that a bundled package asks for as part of
 * the bundle, and then does not link the commands that install scripts call.
 */
export async function bundleCommand(tarballs: ReadonlyMap<string, string>, target: string): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), "gossip-bundle-"));
  try {
    const command = join(stage, "package");
    const manifest = await unpack(tarballs, COMMAND, command);
    const npm: Record<string, string> = {};
    const ours: Record<string, string> = {};
    const waiting = [manifest];
    for (const { dependencies = {} } of waiting) {
      for (const [name, range] of Object.entries(dependencies)) {
        if (!name.startsWith("@gossip/")) {
          npm[name] = agreed(name, npm[name], range);
        } else if (ours[name] === undefined) {
          const folder = join(command, "node_modules", name);
          const needed = await unpack(tarballs, name.slice("@gossip/".length), folder);
          ours[name] = needed.version;
          waiting.push(needed);
          writeManifest(folder, { ...needed, dependencies: undefined });
        }
      }
    }
    const dependencies = sorted({ ...npm, ...ours });
    writeManifest(command, { ...manifest, dependencies, bundleDependencies: Object.keys(ours).sort() });
    await runOrThrow("tar", ["-czf", target, "-C", stage, "package"], stage);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Whether this machine can unpack tarballs. */
export async function hasTar(): Promise<boolean> {
  return run("tar", ["--version"], tmpdir()).then(
    ({ exitCode }) => exitCode === 0,
    () => false,
  );
}

async function unpack(tarballs: ReadonlyMap<string, string>, name: string, folder: string): Promise<PackedManifest> {
  const tarball = tarballs.get(name);
  if (tarball === undefined) throw new Error(`@gossip/${name} was not packed`);
  mkdirSync(folder, { recursive: true });
  await runOrThrow("tar", ["-xzf", tarball, "-C", folder, "--strip-components=1"], folder);
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackedManifest;
}

function writeManifest(folder: string, manifest: object): void {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** Two packages that ask for different versions would need two copies. None does, and npm would not bundle that. */
function agreed(name: string, known: string | undefined, range: string): string {
  if (known !== undefined && known !== range) throw new Error(`two packages ask for ${name}: ${known} and ${range}`);
  return range;
}

function sorted(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
