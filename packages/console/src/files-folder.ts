/** Where `vite build` writes the browser's files. The same folder for the sources and for what is built from them. */
export const FILES_FOLDER: URL = new URL("../dist/app/", import.meta.url);
