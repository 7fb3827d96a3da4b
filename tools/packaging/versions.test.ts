// Each package has its own version. A release that moved all of them together would make every user of stdx upgrade for a
// change in coordination; one that forgot the dependents would leave them asking for a version that no longer fits.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { PACKAGES, readManifest, type Manifest } from "../layers/layers.ts";
import { STAMPED } from "../release/stamp-versions.ts";
import { copyTree } from "./copy-tree.ts";
import { run, runOrThrow } from "./run.ts";

let copy: string;
afterEach(() => rmSync(copy, { recursive: true, force: true }));

test("changes in two layers move these two and the dependents that they no longer fit, and every changelog has the reason", async () => {
  const after = await versionsAfterAll({ contracts: "major", "tso-server": "minor" });
  const dependents = PACKAGES.filter((name) => dependsOn(name, "contracts"));
  expect(after).toEqual(
    versions((name, version) =>
      name === "contracts"
        ? bump(version, 0)
        : name === "tso-server"
          ? bump(version, 1)
          : dependents.includes(name) || dependsOn(name, "tso-server")
            ? bump(version, 2)
            : version,
    ),
  );
  expect(changelog("contracts")).toContain("Planted major change of contracts.");
  expect(changelog("tso-server")).toContain("Planted minor change of tso-server.");
  expect(changelog("tso-server")).not.toContain("change of contracts.");
  for (const name of dependents) expect(changelog(name)).toContain(`@gossip/contracts@${after["contracts"]}`);
});

test("a change in a package without dependents moves that package alone", async () => {
  const leaf = PACKAGES.find((name) => PACKAGES.every((other) => !dependsOn(other, name)))!;
  expect(await versionsAfter(leaf, "minor")).toEqual(
    versions((name, version) => (name === leaf ? bump(version, 1) : version)),
  );
});

test("a patch that still fits its dependents moves that package alone", async () => {
  expect(await versionsAfter("stdx", "patch")).toEqual(
    versions((name, version) => (name === "stdx" ? bump(version, 2) : version)),
  );
});

test("with versions tied together, the tests above would fail", async () => {
  const after = await versionsAfter("stdx", "patch", (config) => ({
    ...config,
    fixed: [["@gossip/stdx", "@gossip/scope"]],
  }));
  expect(after["scope"]).not.toBe(readManifest("scope").version);
});

test("a release writes its version wherever it is shown, and leaves nothing unannounced", async () => {
  const after = await versionsAfterAll({ cli: "minor", "coordination-postgres": "major" });
  expect(after["coordination-postgres"]).toBe(bump(readManifest("coordination-postgres").version, 0));
  for (const { package: name, file, version } of STAMPED) {
    const text = readFileSync(join(copy, "packages", name, file), "utf8");
    expect({ file, version: version.exec(text)?.[0] }).toEqual({ file, version: after[name] });
  }
  const module = JSON.stringify(join(copy, "tools/release/unannounced.ts"));
  const script = `import { currentHashes, readReleased, unannounced } from ${module};
    console.log(JSON.stringify(unannounced(currentHashes(), readReleased(), new Set())));`;
  const args = ["--import", join(copy, "tools/ts/register.mjs"), "--input-type=module", "-e", script];
  expect(JSON.parse((await run(process.execPath, args, copy)).stdout)).toEqual([]);
});

type Bump = "major" | "minor" | "patch";
type Configure = (config: object) => object;

function versionsAfter(name: string, kind: Bump, configure?: Configure): Promise<Record<string, string>> {
  return versionsAfterAll({ [name]: kind }, configure);
}

/** What `npm run version` makes of the planted changesets, one for each package, in a copy without any other. */
async function versionsAfterAll(
  changes: Readonly<Record<string, Bump>>,
  configure?: Configure,
): Promise<Record<string, string>> {
  copy = copyTree();
  const folder = join(copy, ".changeset");
  const config = readFileSync(join(folder, "config.json"), "utf8");
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  writeFileSync(
    join(folder, "config.json"),
    configure === undefined ? config : JSON.stringify(configure(JSON.parse(config) as object)),
  );
  for (const [name, kind] of Object.entries(changes)) {
    const text = `---\n"@gossip/${name}": ${kind}\n---\n\nPlanted ${kind} change of ${name}.\n`;
    writeFileSync(join(folder, `${name}.md`), text);
  }
  await runOrThrow("npm", ["run", "version"], copy);
  return Object.fromEntries(
    PACKAGES.map((each) => [
      each,
      (JSON.parse(readFileSync(join(copy, "packages", each, "package.json"), "utf8")) as Manifest).version,
    ]),
  );
}

function changelog(name: string): string {
  return readFileSync(join(copy, "packages", name, "CHANGELOG.md"), "utf8");
}

function versions(change: (name: string, version: string) => string): Record<string, string> {
  return Object.fromEntries(PACKAGES.map((name) => [name, change(name, readManifest(name).version)]));
}

function dependsOn(name: string, other: string): boolean {
  return readManifest(name).dependencies?.[`@gossip/${other}`] !== undefined;
}

/** The next version: `part` is 0 for major, 1 for minor, 2 for patch. */
function bump(version: string, part: number): string {
  const parts = version.split(".").map(Number);
  return parts.map((value, index) => (index < part ? value : index === part ? value + 1 : 0)).join(".");
}
