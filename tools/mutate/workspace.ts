// Copies of packages, laid out so that tests find in them what they find in the real ones.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "../layers/layers.ts";
import { replaceOnce } from "../planted/replace-once.ts";
import type { Edit } from "./mutant.ts";

/** One copy: a package with an edit in it, or as it is, and the tests to run there. */
export interface Copy {
  readonly packageName: string;
  readonly folder: string;
  readonly file: string;
  /** From the package's `src`. */
  readonly tests: readonly string[];
  readonly edit?: Edit;
}

const NOT_NEEDED = /\.(test|test-d|bench)\.ts$/;

export class Workspace {
  readonly folder: string;

  constructor(name: string) {
    // Below the root, because packages are looked for in the folders above a file.
    this.folder = join(ROOT, ".cache/mutate", `${name}-${process.pid}`);
    this.remove();
    mkdirSync(this.folder, { recursive: true });
  }

  add({ packageName, folder, file, tests, edit }: Copy): void {
    const original = join(ROOT, "packages", packageName);
    const source = join(original, "src");
    const home = join(this.folder, folder, "packages", packageName);
    const isNeeded = (path: string): boolean =>
      !NOT_NEEDED.test(path) || tests.includes(relative(source, path).replaceAll("\\", "/"));
    cpSync(source, join(home, "src"), { recursive: true, filter: isNeeded });
    const missing = tests.filter((test) => !existsSync(join(home, "src", test)));
    if (missing.length > 0) throw new Error(`${packageName} has no test ${missing.join(", ")}`);
    cpSync(join(original, "package.json"), join(home, "package.json"));
    symlinkSync(join(original, "node_modules"), join(home, "node_modules"));
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
