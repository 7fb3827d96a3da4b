import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// `vite build` writes the browser's files to `dist/app`, where `consoleFiles` reads them.
export default defineConfig({
  root: at("src/app"),
  // Relative: the page works below any path.
  base: "./",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: at("dist/app"),
    emptyOutDir: true,
    target: "es2022",
    // The content security policy allows no inline scripts and no data URLs.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    assetsDir: ".",
    cssCodeSplit: false,
  },
});
