import { ShardArena, ShardSpec, type ShardSpecHandle } from "@gossip/contracts";
import type { Result } from "@gossip/stdx";
import { expect } from "vitest";
import type { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import type { ShardIntoError } from "./shard-error.ts";
import { ShardSpecScratch } from "./shard-spec-scratch.ts";

interface ConstructorForms<Input, E> {
  readonly owned: (input: Input) => Result<ShardSpec, E>;
  readonly ref: (input: Input, scratch: ShardSpecScratch) => Result<BorrowedShardSpec, E>;
  readonly into: (
    input: Input,
    scratch: ShardSpecScratch,
    arena: ShardArena,
  ) => Result<ShardSpecHandle, ShardIntoError<E>>;
}

/** Call all three forms of a constructor and check that they say the same. */
export function agreeing<Input, E>({
  owned,
  ref,
  into,
}: ConstructorForms<Input, E>): (input: Input) => Result<ShardSpec, E> {
  const scratch = new ShardSpecScratch();
  const arena = ShardArena.withCapacity({ specSlots: 1, byteCapacity: 65_536 });
  return (input) => {
    const built = owned(input);
    const borrowed = ref(input, scratch);
    expect(borrowed.ok ? { ok: true, value: borrowed.value.toOwned() } : borrowed).toEqual(built);
    const placed = into(input, scratch, arena);
    if (placed.ok) {
      expect(ShardSpec.tryFromRef(arena.viewSpec(placed.value))).toEqual(built);
      arena.freeSpec(placed.value);
    } else {
      expect(placed.error).toEqual({ kind: "Build", reason: built.ok ? undefined : built.error });
    }
    return built;
  };
}
