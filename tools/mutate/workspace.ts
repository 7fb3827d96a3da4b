// Copies of a package, one a mutant, laid out so that tests find in them what they find in the real one.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "../layers/layers.ts";
import { replaceOnce } from "../planted/replace-once.ts";
import type { Edit } from "./mutant.ts";

/** One copy: a package with an edit in it, or as it is, and the tests to run there. */
export interface Copy {
  readonly folder: string;
  readonly file: string;
  readonly tests: readonly string[];
  readonly edit?: Edit;
}

const NOT_NEEDED = /\.(test|test-d|bench)\.ts$/;

export class Workspace {
  readonly folder: string;
  readonly #packageName: string;

  constructor(packageName: string) {
    this.#packageName = packageName;
    // Below the root, because packages are looked for in the folders above a file.
    this.folder = join(ROOT, ".cache/mutate", `${packageName}-${process.pid}`);
    this.remove();
    mkdirSync(this.folder, { recursive: true });
  }

  add({ folder, file, tests, edit }: Copy): void {
    const source = join(ROOT, "packages", this.#packageName, "src");
    const home = join(this.folder, folder, "packages", this.#packageName);
    const isNeeded = (path: string): boolean => !NOT_NEEDED.test(path) || tests.includes(relative(source, path));
    cpSync(source, join(home, "src"), { recursive: true, filter: isNeeded });
    symlinkSync(join(ROOT, "packages", this.#packageName, "node_modules"), join(home, "node_modules"));
    symlinkSync(join(ROOT, "docs"), join(this.folder, folder, "docs"));
    if (edit !== undefined) {
      const target = join(home, "src", file);
      writeFileSync(target, replaceOnce(readFileSync(target, "utf8"), edit.find, edit.replace));
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
