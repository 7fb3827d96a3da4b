import { project } from "../../vitest.shared.ts";

export default project("example-pipe-workers", { include: ["*.test.ts"] });
