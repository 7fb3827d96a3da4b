// Packages that work inside the workspace can still fail for everyone else: a file that was not packed, a link that npm
// does not have, a type that only resolves here, a layer that drags in the one above it. So every package is packed,
// installed, imported and type-checked in a project that holds nothing but the package and what its manifest asks for.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseExports, type ApiExport } from "../api/api-list.ts";
import { readApiFile } from "../api/packages.ts";
import { bundleCommand } from "../release/bundle-command.ts";
import { neededLayers } from "../release/needed-layers.ts";
import { LAYERS, PACKAGES, codeEntries, packageFolder, readManifest, type Manifest } from "../layers/layers.ts";
import {
  OLDEST_TYPESCRIPT,
  importAll,
  installInto,
  installedPackages,
  projectWith,
  typeCheckAll,
  typeCheckEach,
  type Usage,
} from "./consumer.ts";
import { copyTree } from "./copy-tree.ts";
import { packAll } from "./pack.ts";
import { openRegistry, type LocalRegistry } from "./registry.ts";
import { run, runOrThrow } from "./run.ts";
import { readShipped, shippedProblems, strangers } from "./shipped.ts";

let copy: string;
let everything: string;
let tarballs: ReadonlyMap<string, string>;
const projects = new Map<string, string>();
/** By project: what the compiler finds in a module that uses everything. */
let typeProblems: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  // With the outputs of the build step, which the compiler brings up to date where they are not.
  copy = copyTree({ withBuild: true });
  tarballs = await packAll(copy);
  everything = await installInto([...tarballs.values()]);
  for (const name of PACKAGES) projects.set(name, projectWith(everything, `@gossip/${name}`));
  typeProblems = await typeCheckEach(PACKAGES.map(usageOf));
});

afterAll(() => {
  for (const folder of [copy, everything, ...projects.values()])
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

describe.each(PACKAGES.map((name) => [name]))("@gossip/%s from its tarball", (name) => {
  // What the sources export is what the list says: `api.test.ts` compares them.
  const exports = parseExports(name, readApiFile(name)!);
  const specifiers = codeEntries(readManifest(name)).map((entry) => `@gossip/${name}${entry.slice(1)}`);
  const folder = (): string => join(projects.get(name)!, "node_modules/@gossip", name);

  test("holds what users need and nothing else", () => {
    expect(shippedProblems(readShipped(folder()))).toEqual([]);
  });

  test("brings no layer above it, and no package that the table does not list", () => {
    const installed = installedPackages(projects.get(name)!);
    const layers = [name, ...LAYERS[name]!.below];
    // A layer that only tests use is not installed, and neither is what it needs.
    const npm = layers.filter((layer) => installed.includes(`@gossip/${layer}`)).flatMap((layer) => LAYERS[layer]!.npm);
    expect(installed).toEqual(expect.arrayContaining([`@gossip/${name}`, ...npm]));
    expect(strangers(installed, { layers, npm })).toEqual([]);
  });

  test("every entry imports, and offers what its sources export", async () => {
    expect(await importAll(projects.get(name)!, specifiers, exports)).toEqual([]);
  });

  // Users have no types for entries that are for packages of this repository.
  const untyped = internalEntries(name).map((entry) =>
    expect.stringContaining(`Cannot find module '@gossip/${name}${entry.slice(1)}'`),
  );

  test("every export type-checks, libraries included, and an internal entry has no types", () => {
    expect(typeProblems.get(projects.get(name)!)).toEqual(untyped);
  });

  test.each(Object.keys(readManifest(name).bin ?? {}))("its command %s starts", async (command) => {
    const project = projects.get(name)!;
    const { exitCode, stdout } = await run(join(project, "node_modules/.bin", command), ["--help"], project);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(command)]);
  });

  test("publint has nothing to say", async () => {
    expect(await lintPackage(folder())).toEqual([]);
  });
});

// Users do not compile with our compiler. All packages at once, because most of the time goes into reading libraries.
// It takes 14 seconds of one processor, which a busy machine may not have at once.
test(
  "every export of every package type-checks with the oldest TypeScript, strictly",
  { timeout: 900_000 },
  async () => {
    const exports = PACKAGES.flatMap((name) => parseExports(name, readApiFile(name)!));
    const users = exports.filter(({ entry }) => entry !== "./internal");
    // One name that is not there shows that the compiler reads the rest.
    const planted: ApiExport = { package: "stdx", entry: ".", kind: "type", name: "Nowhere", signature: "type" };
    const usage = { project: everything, exports: [...users, planted], needsNode: true };
    expect(await typeCheckAll(usage, OLDEST_TYPESCRIPT)).toEqual([expect.stringContaining("Nowhere")]);
  },
);

// A second machine has Node and the npm registry, and none of our packages.
describe("the command's own tarball", () => {
  let prefix: string;
  afterAll(() => rmSync(prefix, { recursive: true, force: true }));

  test("installs into an empty prefix with its manual page, and hashes a tree", async () => {
    prefix = realpathSync(mkdtempSync(join(tmpdir(), "gossip prefix ")));
    const tarball = join(prefix, "gossip-cli.tgz");
    await bundleCommand(tarballs, tarball);
    const flags = ["--global", "--prefix", prefix, "--prefer-offline", "--no-audit", "--no-fund"];
    await runOrThrow("npm", ["install", ...flags, tarball], prefix);

    const tree = join(prefix, "tree");
    mkdirSync(join(tree, "a folder"), { recursive: true });
    writeFileSync(join(tree, "one"), "1");
    writeFileSync(join(tree, "a folder", "two words"), "2");
    const options = ["--source", `fs:${tree}`, "--exec", "sha256sum <{}", "--out", "sums.ndjson", "--store", "store"];
    await runOrThrow(join(prefix, "bin/gossip"), ["run", ...options], prefix);
    const sums = readFileSync(join(prefix, "sums.ndjson"), "utf8");
    for (const text of ["1", "2"]) expect(sums).toContain(createHash("sha256").update(text).digest("hex"));
    // npm links manual pages only if the manifest has them as a list.
    expect(existsSync(join(prefix, "share/man/man1/gossip.1"))).toBe(true);
  });
});

// What a README starts with is what its reader types first.
describe("the install command of a README, as written", () => {
  const folders: string[] = [];
  let registry: LocalRegistry;
  const emptyFolder = (): string => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "gossip-install-")));
    folders.push(folder);
    return folder;
  };
  const install = (name: string, folder: string, ...flags: string[]): Promise<string> => {
    const line = /^```sh\nnpm (install .+)\n```$/m.exec(
      readFileSync(join(packageFolder(name), "README.md"), "utf8"),
    )![1]!;
    const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--no-package-lock", registry.option];
    return runOrThrow("npm", [...line.split(" "), ...quiet, ...flags], folder);
  };
  beforeAll(async () => {
    const packages = PACKAGES.map((name) => {
      const path = join(everything, "node_modules/@gossip", name, "package.json");
      return { manifest: JSON.parse(readFileSync(path, "utf8")) as Manifest, tarball: tarballs.get(name)! };
    });
    registry = await openRegistry(packages);
  });
  afterAll(() => {
    registry.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  test("of @gossip/frontier brings the layers below it, and nothing above or beside", async () => {
    const project = emptyFolder();
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
    await install("frontier", project);
    const layers = ["frontier", ...neededLayers("frontier")].map((name) => `@gossip/${name}`);
    expect(installedPackages(project).sort()).toEqual([...layers, "@noble/hashes"].sort());
    const frontier = parseExports("frontier", readApiFile("frontier")!);
    expect(await importAll(project, ["@gossip/frontier"], frontier)).toEqual([]);
  });

  test("of @gossip/cli brings the command and its manual page", async () => {
    const prefix = emptyFolder();
    await install("cli", prefix, "--prefix", prefix);
    const version = await runOrThrow(join(prefix, "bin/gossip"), ["--version"], prefix);
    expect(version.trim()).toBe(readManifest("cli").version);
    expect(existsSync(join(prefix, "share/man/man1/gossip.1"))).toBe(true);
  });

  test("one layer installs from the tarballs that `npm run dist -- LAYER` names", async () => {
    const files = [...neededLayers("frontier"), "frontier"].map((name) => tarballs.get(name)!);
    const project = await installInto(files);
    folders.push(project);
    expect(await importAll(project, ["@gossip/frontier"], parseExports("frontier", readApiFile("frontier")!))).toEqual(
      [],
    );
  });
});

// What the checks above would say if something were wrong.
describe("a package that is wrong", () => {
  test("an export that is not there, and one that is not listed, are found on import", async () => {
    const listed: ApiExport[] = [{ package: "stdx", entry: ".", kind: "value", name: "nowhere", signature: "const" }];
    const problems = await importAll(projects.get("stdx")!, ["@gossip/stdx"], listed);
    expect(problems).toEqual(
      expect.arrayContaining([
        "@gossip/stdx does not offer nowhere",
        "@gossip/stdx offers ok, which the sources do not export",
      ]),
    );
    expect(await importAll(projects.get("stdx")!, ["@gossip/stdx/testing"], [])).toEqual([
      expect.stringContaining("the import fails"),
    ]);
  });

  test("a type that is not there is found by the type check", async () => {
    const listed: ApiExport[] = [{ package: "stdx", entry: ".", kind: "type", name: "Nowhere", signature: "type" }];
    const usage = { project: projects.get("stdx")!, exports: listed, needsNode: false };
    expect(await typeCheckAll(usage)).toEqual([expect.stringContaining("Nowhere")]);
  });

  test("a layer that is not handed over stops the install", async () => {
    const { version } = readManifest("contracts");
    await expect(installInto([join(copy, `tarballs/gossip-contracts-${version}.tgz`)], ["--offline"])).rejects.toThrow(
      /stdx/,
    );
  });

  test("publint speaks up about a broken entry", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gossip-publint-"));
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ name: "x", version: "1.0.0", type: "module", exports: { ".": "./dist/nowhere.js" } }),
    );
    expect(await lintPackage(folder)).not.toEqual([]);
    rmSync(folder, { recursive: true, force: true });
  });
});

function internalEntries(name: string): string[] {
  return Object.keys(readManifest(name).exports).filter((entry) => entry === "./internal");
}

/** Everything that a package exports, and a name from each entry that users have no types for. */
function usageOf(name: string): Usage {
  const internal = internalEntries(name).map((entry): ApiExport => ({
    package: name,
    entry,
    kind: "value",
    name: "any",
    signature: "const",
  }));
  const exports = [...parseExports(name, readApiFile(name)!), ...internal];
  return { project: projects.get(name)!, exports, needsNode: !LAYERS[name]!.core };
}

async function lintPackage(folder: string): Promise<string[]> {
  const { messages, pkg } = await publint({ pkgDir: folder, pack: false, level: "suggestion", strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}
