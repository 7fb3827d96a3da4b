// The files that follow from the layer table. `pnpm layers` writes them, and a test
// compares them with what is committed, so that none can be edited out of step.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LAYERS, PACKAGES, ROOT } from "./layers.ts";

/** Tests, type tests and benches live beside the code and are never shipped. */
const NOT_SHIPPED = ["src/**/*.test.ts", "src/**/*.test-d.ts", "src/**/*.bench.ts", "src/**/*.fixture.ts"];

const EXAMPLES = [
  "backfill-postgres",
  "crawl-manifest",
  "hash-tree",
  "http-source",
  "pipe-workers",
  "python-worker",
  "shell-worker",
  "sqlite-store",
];

/** Path from the root to what the file must hold. */
export function derivedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  files.set(
    "tsconfig.json",
    json({
      files: [],
      references: [
        ...PACKAGES.map((name) => ({ path: `packages/${name}` })),
        { path: "tools" },
        ...EXAMPLES.map((name) => ({ path: `examples/${name}` })),
      ],
    }),
  );
  for (const name of PACKAGES)
    for (const [file, text] of packageFiles(name)) files.set(`packages/${name}/${file}`, text);
  const architecture = join(ROOT, "docs/architecture.md");
  if (existsSync(architecture)) files.set("docs/architecture.md", withLayers(readFileSync(architecture, "utf8")));
  return files;
}

function packageFiles(name: string): [string, string][] {
  const base = { extends: "../../tsconfig.base.json" };
  const { browser } = LAYERS[name]!;
  const build = {
    ...base,
    compilerOptions: { rootDir: "src", outDir: "dist", tsBuildInfoFile: ".cache/build.tsbuildinfo" },
    include: ["src"],
    exclude: browser === undefined ? NOT_SHIPPED : [...NOT_SHIPPED, `src/${browser}`],
    references: LAYERS[name]!.below.map((layer) => ({ path: `../${layer}/tsconfig.build.json` })),
  };
  const test = {
    ...base,
    compilerOptions: {
      composite: false,
      noEmit: true,
      declaration: false,
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
      tsBuildInfoFile: ".cache/test.tsbuildinfo",
    },
    include: [...NOT_SHIPPED, "vitest.config.ts"],
    references: [{ path: "./tsconfig.build.json" }],
  };
  return [
    [
      "tsconfig.json",
      json({
        files: [],
        references: ["build", "test", ...(browser === undefined ? [] : ["browser"])].map((part) => ({
          path: `./tsconfig.${part}.json`,
        })),
      }),
    ],
    ...(browser === undefined ? [] : [browserConfig(browser)]),
    ["tsconfig.build.json", json(build)],
    ["tsconfig.test.json", json(test)],
    ["vitest.config.ts", `import { project } from "../../vitest.shared.ts";\n\nexport default project("${name}");\n`],
  ];
}

/** Type-checks the code for the browser. Vite builds it, so nothing is written. */
function browserConfig(folder: string): [string, string] {
  const config = {
    extends: "../../tsconfig.base.json",
    compilerOptions: {
      lib: ["es2023", "dom", "dom.iterable"],
      types: [],
      jsx: "react-jsx",
      jsxImportSource: "preact",
      composite: false,
      noEmit: true,
      declaration: false,
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
      tsBuildInfoFile: ".cache/browser.tsbuildinfo",
    },
    include: [`src/${folder}`],
    exclude: NOT_SHIPPED,
  };
  return ["tsconfig.browser.json", json(config)];
}

const LAYERS_BEGIN = "<!-- layers: written by `pnpm layers` -->";
const LAYERS_END = "<!-- /layers -->";

function withLayers(page: string): string {
  const begin = page.indexOf(LAYERS_BEGIN);
  const end = page.indexOf(LAYERS_END);
  if (begin < 0 || end < begin) throw new Error("docs/architecture.md has lost the marks around its layers");
  return `${page.slice(0, begin)}${LAYERS_BEGIN}\n\n${layerDiagram()}\n${layerTable()}\n${page.slice(end)}`;
}

/** An arrow leads to a package that may be imported. Arrows that follow from others are left out. */
function layerDiagram(): string {
  const arrows = PACKAGES.flatMap((name) => {
    const below = LAYERS[name]!.below;
    const implied = new Set(below.flatMap((layer) => [...reachable(layer)]));
    return below.filter((layer) => !implied.has(layer)).map((layer) => `  ${name} --> ${layer}\n`);
  });
  return `\`\`\`mermaid\nflowchart TD\n${arrows.join("")}\`\`\`\n`;
}

/** Every package below `name`, however deep. */
function reachable(name: string): Set<string> {
  return new Set(LAYERS[name]!.below.flatMap((layer) => [layer, ...reachable(layer)]));
}

function layerTable(): string {
  const rows = PACKAGES.map((name) => {
    const { below, npm, is } = LAYERS[name]!;
    return `| \`@gossip/${name}\` | ${is} | ${below.map((layer) => `\`${layer}\``).join(", ") || "nothing"} | ${npm.map((dependency) => `\`${dependency}\``).join(", ") || "none"} |\n`;
  });
  return `| package | holds | may import | npm dependencies |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
