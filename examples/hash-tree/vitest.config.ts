import { project } from "../../vitest.shared.ts";

export default project("example-hash-tree", { include: ["*.test.ts"] });
