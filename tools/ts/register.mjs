// Lets Node 20 run our TypeScript as it stands: `node --import ./tools/ts/register.mjs file.ts`.
import { register } from "node:module";

register("./hooks.mjs", import.meta.url);
