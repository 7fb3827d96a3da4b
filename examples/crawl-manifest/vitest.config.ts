import { project } from "../../vitest.shared.ts";

export default project("example-crawl-manifest", { include: ["*.test.ts"] });
