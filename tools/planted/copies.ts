// Copies of the coordination package, one of them clean and each of the others with one bug.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../layers/layers.ts";
import { stripTypes } from "../ts/strip-types.mjs";
import type { PlantedBug } from "./planted-bugs.ts";
import { replaceOnce } from "./replace-once.ts";

const PACKAGE = join(ROOT, "packages/coordination");
const NOT_NEEDED = /\.(test|test-d|bench|fixture)\.ts$/;

/** The package's sources as TypeScript, by their path below `src`. */
type Sources = ReadonlyMap<string, string>;

/** A folder for copies, gone once `use` is done. */
export async function withCopies<T>(use: (copier: Copier) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "gossip-planted-"));
  try {
    return await use(await Copier.into(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes copies in JavaScript. Types are stripped once for all of them, but for the file with the bug: that is most of the work. */
export class Copier {
  readonly #folder: string;
  readonly #sources: Sources;
  readonly #stripped: Sources;
  #copyCount = 0;

  private constructor(folder: string, sources: Sources, stripped: Sources) {
    this.#folder = folder;
    this.#sources = sources;
    this.#stripped = stripped;
  }

  static async into(folder: string): Promise<Copier> {
    const sources = readSources();
    const stripped = await Promise.all(
      [...sources].map(async ([file, text]) => [file, await strip(file, text)] as const),
    );
    return new Copier(folder, sources, new Map(stripped));
  }

  /** Copy the package, and plant a bug in the copy where one is given. Returns where the copy's sources are. */
  async copy(bug: PlantedBug | undefined): Promise<string> {
    const copy = join(this.#folder, `copy-${this.#copyCount++}`);
    const planted =
      bug === undefined
        ? undefined
        : await strip(bug.file, replaceOnce(this.#sources.get(bug.file) ?? "", bug.find, bug.replace));
    for (const [file, text] of this.#stripped) {
      const target = join(copy, "src", file.replace(/\.ts$/, ".js"));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, planted !== undefined && file === bug?.file ? planted : text);
    }
    cpSync(join(PACKAGE, "package.json"), join(copy, "package.json"));
    symlinkSync(join(PACKAGE, "node_modules"), join(copy, "node_modules"), "dir");
    return join(copy, "src");
  }
}

function readSources(): Sources {
  const root = join(PACKAGE, "src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !NOT_NEEDED.test(file),
  );
  return new Map(files.map((file) => [file.replaceAll("\\", "/"), readFileSync(join(root, file), "utf8")]));
}

function strip(file: string, text: string): Promise<string> {
  return stripTypes(file, text, { rewritesExtensions: true });
}
