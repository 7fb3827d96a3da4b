// Makes the links of a package's README work in its tarball: the pages that it links to travel in the folder `docs`.
//
// A script of the package runs this before it is packed (`prepack`) and again with --undo afterwards (`postpack`).
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { ROOT } from "../layers/layers.ts";
import { isMain } from "./is-main.ts";

export interface PackedPages {
  readonly readme: string;
  /** Path inside the package to text. */
  readonly pages: ReadonlyMap<string, string>;
}

const LINK = /\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^()\s]+)\)/g;

/**
 * The README as it is packed, and the pages that it links to. `folder` is that of the package, from the root. In those
 * pages, a link to anything else becomes plain text, because it would lead out of the package.
 */
export function packedPages(
  readme: string,
  folder: string,
  readPage: (path: string) => string | undefined,
): PackedPages {
  const pages = new Map<string, string>();
  const packed = readme.replaceAll(LINK, (whole, text: string, target: string) => {
    const [path = "", anchor] = target.split("#");
    if (path === "" || /^[a-z][a-z0-9+.-]*:/i.test(path)) return whole;
    const page = posix.normalize(posix.join(folder, path));
    if (page.startsWith(`${folder}/`)) return whole;
    const content = readPage(page);
    if (content === undefined) return text;
    const inside = `docs/${page.replace(/^docs\//, "")}`;
    pages.set(inside, withoutRelativeLinks(content));
    return `[${text}](${inside}${anchor === undefined ? "" : `#${anchor}`})`;
  });
  return { readme: packed, pages };
}

function withoutRelativeLinks(page: string): string {
  return page.replaceAll(LINK, (whole, text: string, target: string) =>
    target.startsWith("#") || /^[a-z][a-z0-9+.-]*:/i.test(target) ? whole : text,
  );
}

function readPage(path: string): string | undefined {
  const file = join(ROOT, path);
  return path.endsWith(".md") && existsSync(file) && statSync(file).isFile() ? readFileSync(file, "utf8") : undefined;
}

if (isMain(import.meta.url)) {
  const folder = process.cwd();
  const [readme, kept] = [join(folder, "README.md"), join(folder, ".cache/README.md")];
  if (process.argv.includes("--undo")) {
    renameSync(kept, readme);
    rmSync(join(folder, "docs"), { recursive: true, force: true });
  } else {
    const text = readFileSync(readme, "utf8");
    const packed = packedPages(text, relative(ROOT, folder).replaceAll("\\", "/"), readPage);
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, text);
    writeFileSync(readme, packed.readme);
    for (const [path, page] of packed.pages) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), page);
    }
  }
}
