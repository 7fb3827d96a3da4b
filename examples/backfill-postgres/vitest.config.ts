import { project } from "../../vitest.shared.ts";

export default project("example-backfill-postgres", { include: ["*.test.ts"] });
