// A command that points into `dist` does not exist in a fresh clone. The package manager then prints a warning at every
// first install and leaves the command unlinked.
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PACKAGES, packageFolder, readManifest } from "../layers/layers.ts";

const COMMANDS = PACKAGES.flatMap((name) =>
  Object.entries(readManifest(name).bin ?? {}).map(([command, file]) => ({ command, name, file })),
);

test("there are commands", () => {
  expect(COMMANDS.map(({ command }) => command)).toEqual(expect.arrayContaining(["gossip", "gossip-tso"]));
});

test.each(COMMANDS)("$command starts with a committed, executable file", ({ name, file }) => {
  expect(file).toMatch(/^\.\/bin\//);
  accessSync(join(packageFolder(name), file), constants.X_OK);
});
