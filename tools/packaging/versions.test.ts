// Each package has its own version. A release that moved all of them together would make every user of stdx upgrade for a
// change in coordination; one that forgot the dependents would leave them asking for a version that no longer fits.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { PACKAGES, ROOT, readManifest, type Manifest } from "../layers/layers.ts";
import { copyTree } from "./copy-tree.ts";
import { runOrThrow } from "./run.ts";

let copy: string;
afterEach(() => rmSync(copy, { recursive: true, force: true }));

test("a major change moves the package, and the dependents that it no longer fits", async () => {
  const after = await versionsAfter("contracts", "major");
  expect(after).toEqual(
    versions((name, version) =>
      name === "contracts" ? bump(version, 0) : dependsOn(name, "contracts") ? bump(version, 2) : version,
    ),
  );
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

test("the changelog of the package says what changed", async () => {
  await versionsAfter("stdx", "patch");
  expect(readFileSync(join(copy, "packages/stdx/CHANGELOG.md"), "utf8")).toContain("Planted change.");
});

test("with versions tied together, the tests above would fail", async () => {
  const after = await versionsAfter("stdx", "patch", (config) => ({
    ...config,
    fixed: [["@gossip/stdx", "@gossip/scope"]],
  }));
  expect(after["scope"]).not.toBe(readManifest("scope").version);
});

/** What `changeset version` makes of one planted changeset, in a copy without any other. */
async function versionsAfter(
  name: string,
  kind: "major" | "minor" | "patch",
  configure?: (config: object) => object,
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
  writeFileSync(join(folder, "planted.md"), `---\n"@gossip/${name}": ${kind}\n---\n\nPlanted change.\n`);
  await runOrThrow(process.execPath, [join(ROOT, "node_modules/@changesets/cli/bin.js"), "version"], copy);
  return Object.fromEntries(
    PACKAGES.map((each) => [
      each,
      (JSON.parse(readFileSync(join(copy, "packages", each, "package.json"), "utf8")) as Manifest).version,
    ]),
  );
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
