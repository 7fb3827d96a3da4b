// The boundaries between packages, derived from tools/layers/layers.json: a new package is one line there and none here.
// `pnpm boundaries` cruises with these rules and checks what they cannot see (tools/boundaries).
const layers = require("./tools/layers/layers.json");

const names = Object.keys(layers);
const anyOf = (words) => words.map((word) => word.replace(/[^\w]/g, "\\$&")).join("|");

/** Tests, type tests, benches and fixtures live beside the code and are never shipped. */
const NOT_SHIPPED = "\\.(test|test-d|bench|fixture)\\.[cm]?tsx?$";
/** Code for the browser is bundled with what it imports: nothing of it is installed with the package. */
const BUNDLED = names
  .filter((name) => layers[name].browser)
  .map((name) => `^packages/${name}/src/${layers[name].browser}/`);
const SHIPPED = { path: "^packages/[^/]+/src/", pathNot: [NOT_SHIPPED, ...BUNDLED] };

// An import shows up as a file where it resolves, and as the bare specifier where the dependency is not declared.
const imports = (words) => `^packages/(${words})/|(^|/node_modules/)@gossip/(${words})(/|$)`;

const layerRules = names.map((name) => ({
  name: `${name}-imports-only-layers-below-it`,
  comment: `@gossip/${name} may import ${layers[name].below.join(", ") || "no other package"}: see docs/architecture.md`,
  severity: "error",
  from: { path: `^packages/${anyOf([name])}/` },
  to: { path: imports("[^/]+"), pathNot: imports(anyOf([name, ...layers[name].below, "tools"])) },
}));

module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: "package-is-in-the-layer-table",
      comment: "a package that tools/layers/layers.json does not list has no layer, so nothing would hold it",
      severity: "error",
      from: { path: "^packages/", pathNot: `^packages/(${anyOf(names)})/` },
      to: {},
    },
    {
      name: "no-circular",
      comment: "what imports itself, through types alone even, cannot be understood or tested in parts",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-deep-import",
      comment: "import another package through its entry, ./testing or ./internal, never through a file inside it",
      severity: "error",
      from: { path: "^packages/([^/]+)/" },
      to: {
        path: "^packages/[^/]+/|(^|/node_modules/)@gossip/[^/]+/",
        pathNot: [
          "^packages/$1/",
          "^packages/[^/]+/(src/((testing/)?index|internal)\\.ts|dist/((testing/)?index|internal)\\.(js|d\\.ts)|package\\.json)$",
          "^@gossip/[^/]+/(testing|internal|package\\.json)$",
          "^@gossip/tools/",
        ],
      },
    },
    {
      name: "no-internal-outside-packages",
      comment: "./internal is for packages of this repository: an example may use only what its readers can",
      severity: "error",
      from: { path: "^examples/" },
      to: { path: "^packages/[^/]+/(src|dist)/internal\\.|(^|/node_modules/)@gossip/[^/]+/(src/|dist/)?internal" },
    },
    {
      name: "no-relative-cross-package",
      comment: "whatever is outside the package is reached by name: a relative path escapes its manifest",
      severity: "error",
      from: { path: "^packages/([^/]+)/", pathNot: "^packages/[^/]+/vitest\\.config\\.ts$" },
      to: { dependencyTypes: ["local"], pathNot: "^packages/$1/" },
    },
    {
      name: "no-unresolvable",
      comment: "an import that does not resolve is a missing or an undeclared dependency",
      severity: "error",
      from: { path: "^packages/" },
      // The bundle of the command is there only after a build.
      to: { couldNotResolve: true, pathNot: "^\\.\\./dist/command/" },
    },
    {
      name: "no-undeclared-dependency",
      comment: "an npm package that the manifest does not list is not there when the package is installed",
      severity: "error",
      from: SHIPPED,
      // A path that leads nowhere is no-unresolvable's.
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown", "unknown"], pathNot: "^\\.{1,2}/(?!.*node_modules/)" },
    },
    {
      name: "no-dev-dependency-in-shipped-source",
      comment: "a development dependency is not installed with the package; its types are missing there too",
      severity: "error",
      from: SHIPPED,
      to: { dependencyTypes: ["npm-dev"] },
    },
    {
      name: "no-tools-in-shipped-source",
      comment: "@gossip/tools is never published",
      severity: "error",
      from: SHIPPED,
      to: { path: "^tools/|(^|/node_modules/)@gossip/tools(/|$)" },
    },
    {
      name: "no-test-in-shipped-source",
      comment: "tests, benches and fixtures are not in the tarball",
      severity: "error",
      from: SHIPPED,
      to: { path: NOT_SHIPPED },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    detectJSDocImports: true,
    // "Declared" means: in the package's own manifest, not in the root's.
    combinedDependencies: false,
    // doNotFollow keeps the import and only stops there. `exclude` would drop every import of a dist folder without a word.
    doNotFollow: { path: "(^|/)(node_modules|dist)/" },
    exclude: { path: "(^|/)(coverage|\\.turbo|\\.cache)/" },
    exoticRequireStrings: ["vi.mock", "vi.doMock", "vi.importActual"],
    skipAnalysisNotInRules: false,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["@gossip/source", "import", "types", "node", "default"],
      extensions: [".ts", ".d.ts", ".js", ".mjs", ".cjs", ".json"],
      mainFields: ["module", "main", "types"],
    },
  },
};
