import { project } from "../../vitest.shared.ts";

export default project("example-tour", ["*.test.ts"]);
