export type { Credentials } from "./client/sign.ts";
export type { S3Item } from "./s3-item.ts";
export type { S3SourceOptions } from "./s3-options.ts";
export { s3Source, type S3Source } from "./s3-source.ts";
export { parseS3Url, type S3Location } from "./s3-url.ts";
