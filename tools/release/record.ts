// `npm run version` runs this after `changeset version`: from now on, what the packages ship is what was released.
import { writeFileSync } from "node:fs";
import { stampVersions } from "./stamp-versions.ts";
import { currentHashes, RELEASED_FILE } from "./unannounced.ts";

stampVersions();
writeFileSync(RELEASED_FILE, `${JSON.stringify(currentHashes(), undefined, 2)}\n`);
