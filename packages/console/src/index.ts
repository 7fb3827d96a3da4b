export { consoleFiles, type ConsoleFile, type ConsoleFiles } from "./console-files.ts";
