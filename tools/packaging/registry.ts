// A registry on this machine that has our packed packages, so that the install commands of READMEs can be run as written.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface LocalRegistry {
  /** The option of npm that looks for our packages here; all others come from where they always do. */
  readonly option: string;
  close(): void;
}

export interface PackedPackage {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly tarball: string;
}

/** Serves one version of each package. Answers what `npm install` asks for, and nothing else. */
export async function openRegistry(packages: readonly PackedPackage[]): Promise<LocalRegistry> {
  const byName = new Map(packages.map((one) => [one.manifest.name, one]));
  const server = createServer((request, response) => {
    const [name = "", file] = decodeURIComponent(request.url ?? "")
      .slice(1)
      .split("/-/");
    const packed = byName.get(name);
    if (packed === undefined) return response.writeHead(404).end("{}");
    const content = readFileSync(packed.tarball);
    if (file !== undefined) return response.end(content);
    const { version } = packed.manifest;
    const dist = {
      tarball: `${address}/${name}/-/${version}.tgz`,
      integrity: `sha512-${createHash("sha512").update(content).digest("base64")}`,
    };
    const versions = { [version]: { ...packed.manifest, dist } };
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    option: `--@gossip:registry=${address}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
