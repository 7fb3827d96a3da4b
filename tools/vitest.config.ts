import { project } from "../vitest.shared.ts";

export default project("tools", { include: ["**/*.test.ts"] });
