export { describeSource, SOURCE_CASES } from "./conformance/describe-source.ts";
export type { SourceCase } from "./conformance/source-case.ts";
export type { SourceFixture } from "./conformance/source-fixture.ts";
export { SourceWorld, type Reading } from "./conformance/source-world.ts";
