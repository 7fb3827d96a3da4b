import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PACKAGES, ROOT } from "../layers/layers.ts";

/** Every bench of every package and example, and those beside other systems, as a path from the root. */
export function benchFiles(): string[] {
  const examples = readdirSync(join(ROOT, "examples"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(join(ROOT, "examples", name)).map((file) => join("examples", name, file)))
    .filter((file) => file.endsWith(".bench.ts"));
  const folders = [...PACKAGES.map((name) => join("packages", name, "src")), join("tools", "peers", "src")];
  const inFolders = folders.flatMap((folder) => {
    return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".bench.ts"))
      .map((file) => join(folder, file).replaceAll("\\", "/"))
      .sort();
  });
  return [...inFolders, ...examples.sort()];
}
