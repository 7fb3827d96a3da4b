// Checks the links of a site that was built: the file is there, and what the anchor names is in it, once.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";

/** What is wrong, one line each. A link to another site is not followed, but nothing may be loaded from one. */
export function brokenLinks(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const pages = files.filter((file) => file.endsWith(".html")).sort();
  const ids = new Map(pages.map((page) => [page, idsIn(readFileSync(join(folder, page), "utf8"))]));
  return pages.flatMap((page) => {
    const html = readFileSync(join(folder, page), "utf8");
    const links = [...html.matchAll(/<(\w+)\b[^>]*?\s(?:href|src)="([^"]*)"/g)].flatMap(([, tag, target]) => {
      if (/^[a-z][a-z0-9+.-]*:/.test(target!)) return tag === "a" ? [] : [`${page} loads ${target} from another site`];
      const [path = "", anchor] = target!.split("#");
      const to = path === "" ? page : posix.join(posix.dirname(page), path);
      if (!existsSync(join(folder, to))) return [`${page} links to ${target}, which is not there`];
      return anchor === undefined || ids.get(to)?.has(anchor) === true
        ? []
        : [`${page} links to ${target}: no such place`];
    });
    return [...links, ...repeatedIds(html).map((id) => `${page} has two places called ${id}`)];
  });
}

function idsIn(html: string): Set<string> {
  return new Set(allIds(html));
}

function repeatedIds(html: string): string[] {
  const seen = new Set<string>();
  return allIds(html).filter((id) => seen.size === seen.add(id).size);
}

function allIds(html: string): string[] {
  return [...html.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]!);
}
