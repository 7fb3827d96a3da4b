// Where a link of a page leads on the site.
import { existsSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { sitePath } from "./pages.ts";

export interface LinkOptions {
  readonly root: string;
  /** The page that has the link: its file, or `api:NAME`, and its path on the site. */
  readonly source: string;
  readonly path: string;
  /** Called with each file of the repository that is not a page and has to be on the site, and its path there. */
  readonly onFile: (file: string, path: string) => void;
}

/** Files that a browser would not show as text get another ending. */
const SHOWN = /\.(?:json|svg|png|webp|txt|html)$/;

/** A function that turns a link as a page writes it into one that works on the site. */
export function linksOf({ root, source, path, onFile }: LinkOptions): (target: string) => string {
  const folder = source.startsWith("api:") ? `packages/${source.slice("api:".length)}` : dirname(source);
  return (target) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith("#")) return target;
    const [name = "", anchor] = target.split("#");
    const to = onSite(posix.normalize(posix.join(folder, name)));
    const link = posix.relative(posix.dirname(path), to);
    return anchor === undefined ? link : `${link}#${anchor}`;
  };

  function onSite(file: string): string {
    if (file.endsWith(".md")) return sitePath(file);
    if (file.endsWith(".html")) return file;
    const readme = posix.join(file, "README.md");
    if (existsSync(join(root, readme))) return sitePath(readme);
    if (!existsSync(join(root, file)) || statSync(join(root, file)).isDirectory()) return file;
    const shown = SHOWN.test(file) ? file : `${file}.txt`;
    onFile(file, shown);
    return shown;
  }
}
