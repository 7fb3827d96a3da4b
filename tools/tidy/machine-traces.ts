// Traces of one person's machine: they are of no use to others, and some of them should not be public.
import { existsSync } from "node:fs";
import type { Finding } from "./finding.ts";
import type { SourceText } from "./tree.ts";

const HOME_FOLDER = /(?<![\w./-])\/(?:home|Users)\/[\w.-]+|\b[A-Z]:\\+Users\\+[\w.-]+/;
const REGISTRY_URL = /https?:\/\/[\w.:@-]*(?:registry|artifactory|verdaccio|nexus)[\w.:-]*/i;
const ABSOLUTE_PATH = /(?<![\w.\-:/@$`{}*\\~<])\/(?:[\w.-]+\/)+[\w.-]*/g;
/** Folders that every machine has. What exists in a temporary one right now is a trace all the same. */
const SYSTEM_PATH = /^\/(?:bin|dev|etc|lib|lib64|opt|proc|run|sbin|sys|usr|var(?!\/folders))\//;

/** `exists` answers whether an absolute path is there, on the machine that runs the check. */
export function machineTraces({ file, text }: SourceText, exists: (path: string) => boolean = existsSync): Finding[] {
  if (text.includes("\0")) return [];
  return text.split("\n").flatMap((content, index) => {
    const traces = [HOME_FOLDER.exec(content)?.[0], REGISTRY_URL.exec(content)?.[0], ...localPaths(content, exists)];
    return [...new Set(traces)]
      .filter((trace) => trace !== undefined)
      .map((trace) => ({ file, line: index + 1, what: `names something of one machine: ${trace}` }));
  });
}

/** A path that happens to exist right here is a path of this machine; `/v1/kv/range` in a test is not. */
function localPaths(content: string, exists: (path: string) => boolean): string[] {
  const paths = [...content.matchAll(ABSOLUTE_PATH)].map((match) => match[0].replace(/[./]+$/, ""));
  return paths.filter((path) => path.lastIndexOf("/") > 0 && !SYSTEM_PATH.test(`${path}/`) && exists(path));
}
