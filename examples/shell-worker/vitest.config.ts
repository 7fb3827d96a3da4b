import { project } from "../../vitest.shared.ts";

export default project("example-shell-worker", { include: ["*.test.ts"] });
