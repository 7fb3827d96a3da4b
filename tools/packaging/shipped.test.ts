// What is in a tarball cannot be taken back. These are the mistakes that the packaging test would have to see in one.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { shippedProblems, strangers, type ShippedPackage } from "./shipped.ts";

describe("shippedProblems", () => {
  const manifest = JSON.stringify({ name: "@gossip/x", type: "module", sideEffects: false });
  const files = {
    "package.json": manifest,
    "README.md": "",
    LICENSE: "",
    "CHANGELOG.md": "",
    "dist/index.js": "",
    "dist/index.d.ts": "",
  };
  const shipped = (more: Readonly<Record<string, string>>, changed = manifest): ShippedPackage => ({
    manifest: changed,
    files: new Map(Object.entries({ ...files, ...more })),
  });

  test("a right one passes", () => {
    expect(shippedProblems(shipped({ "dist/testing/index.js": "" }))).toEqual([]);
    expect(shippedProblems(shipped({ "README.md": "[a](docs/a.md#a)", "docs/a.md": "# A" }))).toEqual([]);
  });

  test.each([
    shipped({ "src/index.ts": "" }),
    shipped({ "README.md": "[a](../../docs/a.md)" }),
    shipped({ "README.md": "[a](docs/a.md#b)", "docs/a.md": "# A" }),
    shipped({ "dist/a.test.js": "" }),
    shipped({ "dist/a.bench.d.ts": "" }),
    shipped({ "dist/a.fixture.js.map": "" }),
    shipped({ "dist/build.tsbuildinfo": "" }),
    shipped({}, JSON.stringify({ type: "module" })),
    shipped({}, JSON.stringify({ type: "module", sideEffects: true })),
    shipped({}, JSON.stringify({ sideEffects: false })),
    shipped(
      {},
      JSON.stringify({ type: "module", sideEffects: false, exports: { ".": { "@gossip/source": "./src/index.ts" } } }),
    ),
    shipped(
      {},
      JSON.stringify({ type: "module", sideEffects: false, dependencies: { "@gossip/stdx": "workspace:^" } }),
    ),
    shipped({ "dist/index.js.map": JSON.stringify({ sources: [join(import.meta.dirname, "shipped.ts")] }) }),
    { manifest, files: new Map(Object.entries(files).filter(([path]) => path !== "LICENSE")) },
    { manifest, files: new Map(Object.entries(files).filter(([path]) => path !== "README.md")) },
  ])("wrong content %#", (wrong) => {
    expect(shippedProblems(wrong)).toHaveLength(1);
  });
});

describe("strangers", () => {
  test("a layer above is one, whatever else is allowed", () => {
    const installed = ["@gossip/frontier", "@gossip/coordination", "@noble/hashes", "helper-of-hashes"];
    expect(strangers(installed, { layers: ["frontier"], npm: ["@noble/hashes"] })).toEqual([
      "@gossip/coordination was pulled in",
    ]);
  });

  test("where the table lists no npm package, every one is a stranger", () => {
    expect(strangers(["@gossip/stdx", "left-pad"], { layers: ["stdx"], npm: [] })).toEqual(["left-pad was pulled in"]);
  });
});
