import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PACKAGES, ROOT } from "../layers/layers.ts";

/** Every bench of every package, as a path from the root. */
export function benchFiles(): string[] {
  return PACKAGES.flatMap((name) => {
    const folder = join("packages", name, "src");
    return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".bench.ts"))
      .map((file) => join(folder, file).replaceAll("\\", "/"))
      .sort();
  });
}
