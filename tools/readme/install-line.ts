// The install command at the top of a package's README. It is not run: that would need a registry. Instead it must name
// every package that the page's examples import. tools/packaging installs the packages themselves, from tarballs.
import type { Block } from "./blocks.ts";
import type { Failure } from "./failure.ts";

const PAGE = /^packages\/([^/]+)\/README\.md$/;
const INSTALL = /^npm install((?: [\w@./-]+)+)\n$/;
const IMPORT = /\bfrom "((?:@[\w-]+\/)?[\w-]+)[^"]*"/g;

/** The packages that a block installs, or `undefined` if it is anything but one install command of a package's README. */
export function installedBy({ file, language, code }: Block): readonly string[] | undefined {
  const match = PAGE.test(file) && language === "sh" ? INSTALL.exec(code) : null;
  return match === null ? undefined : match[1]!.trim().split(" ");
}

/** The install commands that leave out the package itself, or a package that an example of the page imports. */
export function installFailures(blocks: readonly Block[]): Failure[] {
  return blocks.flatMap((block) => {
    const installed = installedBy(block);
    if (installed === undefined) return [];
    const examples = blocks.filter(({ file, language }) => file === block.file && language === "ts");
    const imported = examples.flatMap(({ code }) => [...code.matchAll(IMPORT)].map((match) => match[1]!));
    const needed = new Set([`@gossip/${PAGE.exec(block.file)![1]}`, ...imported.filter((name) => name !== "node")]);
    return [...needed]
      .filter((name) => !installed.includes(name))
      .map((name) => ({ file: block.file, line: block.line, what: `does not install ${name}, which the page uses` }));
  });
}
