import { expectTypeOf } from "vitest";
import type { Cursor } from "../cursors/cursor.ts";
import { RunId } from "./run-id.ts";
import { ShardId } from "./shard-id.ts";
import { ShardKey } from "./shard-key.ts";
import type { ShardSpecRef } from "../specs/shard-spec-ref.ts";
import { ShardSpec } from "../specs/shard-spec.ts";
import { TenantId } from "./tenant-id.ts";

const run = RunId.fromRaw(1n);
const shard = ShardId.fromRaw(2n);

expectTypeOf(run).toExtend<bigint>();
expectTypeOf(TenantId.ZERO).toExtend<string>();

ShardKey.of(run, shard);
// @ts-expect-error the ids are swapped
ShardKey.of(shard, run);
// @ts-expect-error a raw integer is no run id
ShardKey.of(1n, shard);
// @ts-expect-error a number cannot hold 64 bits
RunId.fromRaw(1);

// @ts-expect-error a cursor comes from its constructors, which rule out a token without a key
const forged: Cursor = { lastKey: undefined, token: new Uint8Array(1) };
void forged;

const ref: ShardSpecRef = ShardSpec.unbounded();
// @ts-expect-error an unchecked view is not a spec
const unchecked: ShardSpec = ref;
void unchecked;
