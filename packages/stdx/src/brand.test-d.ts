import { expectTypeOf } from "vitest";

import type { Brand } from "./brand.ts";

type RunId = Brand<bigint, "RunId">;
type ShardId = Brand<bigint, "ShardId">;

expectTypeOf<RunId>().toExtend<bigint>();
expectTypeOf<RunId>().not.toExtend<ShardId>();
expectTypeOf<bigint>().not.toExtend<RunId>();
