// The blocks that are not run, each with the reason and the check that stands in for it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../layers/layers.ts";
import type { Block } from "./blocks.ts";
import type { Failure } from "./failure.ts";
import { installedBy } from "./install-line.ts";

export interface NotRun {
  readonly page: string;
  /** Something that the block contains. */
  readonly contains: string;
  readonly reason: string;
  /** The file that runs the same thing. */
  readonly checkedBy: string;
}

export const NOT_RUN: readonly NotRun[] = [
  {
    page: "README.md",
    contains: "npm start",
    reason: "`npm test` runs this check, and a test runs the program behind `npm start`",
    checkedBy: "tools/start/main-job.test.ts",
  },
  {
    page: "README.md",
    contains: "npm install -g",
    reason: "it needs a registry; a test installs the command from its tarball",
    checkedBy: "tools/packaging/packaging.test.ts",
  },
  {
    page: "docs/packages.md",
    contains: "npm install @gossip/frontier",
    reason: "it needs a registry; a test runs the command of the README against one on this machine",
    checkedBy: "tools/packaging/packaging.test.ts",
  },
  {
    page: "docs/packages.md",
    contains: "npm run dist",
    reason: "it takes a minute; a test packs every package, and installs one layer from the tarballs",
    checkedBy: "tools/packaging/packaging.test.ts",
  },
  {
    page: "CONTRIBUTING.md",
    contains: "git clone",
    reason: "`npm test` runs this check",
    checkedBy: ".ci/run",
  },
  {
    page: "docs/guide/ten-minutes.md",
    contains: "npm install -g",
    reason: "it needs a registry; a test installs the command from its tarball",
    checkedBy: "tools/packaging/packaging.test.ts",
  },
  {
    page: "docs/reference/cli.md",
    contains: "gossip ",
    reason: "printed from the command descriptions; a test of the CLI runs each example",
    checkedBy: "packages/cli/src/reference/examples.postgres.test.ts",
  },
  {
    page: "docs/reference/errors.md",
    contains: "GOSSIP_WRITE_DOCS=1",
    reason: "rewrites the page; a test compares the page with the code",
    checkedBy: "packages/coordination-errors/src/errors-page.test.ts",
  },
  ...["backfill-postgres", "crawl-manifest", "hash-tree"].map((example) => ({
    page: `examples/${example}/README.md`,
    contains: `examples/${example}/main.ts`,
    reason: "a test of the example runs this program",
    checkedBy: `examples/${example}/${example}.test.ts`,
  })),
  {
    page: "examples/sqlite-store/README.md",
    contains: "--project examples sqlite-store",
    reason: "`npm test` runs these tests",
    checkedBy: "examples/sqlite-store/sqlite-store.test.ts",
  },
];

/** Install commands of package READMEs; see install-line.ts. */
const INSTALL_LINE: NotRun = {
  page: "packages/*/README.md",
  contains: "npm install",
  reason: "it needs a registry; a test installs every package from its tarball",
  checkedBy: "tools/packaging/packaging.test.ts",
};

export function notRunReason(block: Block, table: readonly NotRun[] = NOT_RUN): NotRun | undefined {
  if (installedBy(block) !== undefined) return INSTALL_LINE;
  return table.find(({ page, contains }) => block.file === page && block.code.includes(contains));
}

/** Entries that match no block, or name a check that does not exist. */
export function staleEntries(blocks: readonly Block[], table: readonly NotRun[] = NOT_RUN): Failure[] {
  return table.flatMap((entry) => {
    const at = { file: "tools/readme/not-run.ts", line: 0 };
    if (!blocks.some((block) => notRunReason(block, [entry]) === entry))
      return [{ ...at, what: `no block of ${entry.page} contains "${entry.contains}"` }];
    if (!existsSync(join(ROOT, entry.checkedBy))) return [{ ...at, what: `${entry.checkedBy} does not exist` }];
    return [];
  });
}
