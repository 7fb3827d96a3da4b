import { project } from "../../vitest.shared.ts";

export default project("example-python-worker", { include: ["*.test.ts"] });
