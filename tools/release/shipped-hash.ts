// One hash for what a package ships, to tell whether it changed since its last release.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const NOT_SHIPPED = /\.(test|test-d|bench|fixture)\./;

/** The hash of a package's shipped sources, its commands, and what its manifest promises to users. */
export function shippedHash(folder: string): string {
  const hash = createHash("sha256");
  for (const path of shippedFiles(folder)) {
    const content = createHash("sha256").update(readFileSync(join(folder, path)));
    hash.update(`${path}\n${content.digest("hex")}\n`);
  }
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
  const { exports, bin, engines, dependencies, peerDependencies } = manifest;
  return hash.update(JSON.stringify({ exports, bin, engines, dependencies, peerDependencies })).digest("hex");
}

function shippedFiles(folder: string): string[] {
  return ["bin", "src"]
    .filter((room) => existsSync(join(folder, room)))
    .flatMap((room) =>
      readdirSync(join(folder, room), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !NOT_SHIPPED.test(entry.name))
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(folder.length + 1)
            .replaceAll("\\", "/"),
        ),
    )
    .sort();
}
