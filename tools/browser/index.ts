// A real browser for tests, and the page that it shows.
export { buildConsole } from "./build-console.ts";
export { browserSkipped, openBrowser, type Browser, type BrowserOptions, type Page } from "./browser.ts";
export { axeFindings } from "./axe.ts";
