import { project } from "../../vitest.shared.ts";

export default project("example-http-source", { include: ["*.test.ts"] });
