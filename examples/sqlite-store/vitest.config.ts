import { project } from "../../vitest.shared.ts";

export default project("example-sqlite-store", { include: ["*.test.ts"] });
