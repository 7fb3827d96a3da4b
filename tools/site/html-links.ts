// Checks the links of a site that was built: the file is there, and what the anchor names is in it.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";

/** What is wrong, one line each. A link to another site is not followed, but nothing may be loaded from one. */
export function brokenLinks(folder: string): string[] {
  const pages = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".html"));
  const ids = new Map(pages.map((page) => [page, idsIn(readFileSync(join(folder, page), "utf8"))]));
  return pages.flatMap((page) => {
    const html = readFileSync(join(folder, page), "utf8");
    return [...html.matchAll(/<(\w+)\b[^>]*?\s(?:href|src)="([^"]*)"/g)].flatMap(([, tag, target]) => {
      if (/^[a-z][a-z0-9+.-]*:/.test(target!)) return tag === "a" ? [] : [`${page} loads ${target} from another site`];
      const [path = "", anchor] = target!.split("#");
      const to = path === "" ? page : posix.join(posix.dirname(page), path);
      if (!existsSync(join(folder, to))) return [`${page} links to ${target}, which is not there`];
      return anchor === undefined || ids.get(to)?.has(anchor) === true
        ? []
        : [`${page} links to ${target}: no such place`];
    });
  });
}

function idsIn(html: string): Set<string> {
  return new Set([...html.matchAll(/\bid="([^"]*)"/g)].map((match) => match[1]!));
}
