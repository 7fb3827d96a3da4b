import { project } from "../../vitest.shared.ts";

// Without `module`: what the packages of OpenTelemetry offer under that name are files that Node cannot load.
const conditions = ["@gossip/source", "node", "development|production"];

export default { ...project("worker"), resolve: { conditions }, ssr: { resolve: { conditions, externalConditions: conditions } } };
