import { project } from "../../vitest.shared.ts";

export default project("cli", { globalSetup: "src/processes/share-bundle.fixture.ts" });
