import {
  Cursor,
  U64_MAX,
  type FenceEpoch,
  type LogicalTime,
  type OpId,
  type RunId,
  type ShardId,
  type ShardSpecRef,
  type TenantId,
  type WorkerId,
} from "@gossip/contracts";
import { Lease } from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import type { CursorWire, LeaseWire, RangeWire } from "../schema/records.ts";
import { bytesOfText, decodeBase64Url } from "./text.ts";

/** A field that does not hold what it must. Never shows the value. */
export interface WireFault {
  readonly field: string;
  readonly expected: string;
}

const NO_BYTES = new Uint8Array(0);
/** Longer decimal numbers cannot fit in 64 bits; `BigInt` of a long text takes quadratic time. */
const U64_DIGITS = 20;

/**
 * Reads values out of JSON that has passed its schema.
 *
 * It remembers the first fault and goes on with placeholders, so that a decoder reads as the list of its fields. `done`
 * returns the value, or the fault.
 */
export class WireReader {
  #fault: WireFault | undefined;

  done<T>(value: T): Result<T, WireFault> {
    return this.#fault === undefined ? ok(value) : err(this.#fault);
  }

  fail(field: string, expected: string): void {
    this.#fault ??= { field, expected };
  }

  /** Sixteen hex digits. */
  id<Id extends bigint>(text: string): Id {
    return BigInt(`0x${text}`) as Id;
  }

  u64<T extends bigint>(text: string, field: string): T {
    const value = text.length <= U64_DIGITS ? BigInt(text) : U64_MAX + 1n;
    if (value > U64_MAX) this.fail(field, "a number of 64 bits");
    return value as T;
  }

  tenant(text: string): TenantId {
    return text as TenantId;
  }

  /** Bytes from `name` or from `name64`. */
  bytes(text: string | undefined, text64: string | undefined, name: string): Uint8Array | undefined {
    if (text !== undefined && text64 !== undefined) this.fail(`${name}64`, `either ${name} or ${name}64, not both`);
    if (text !== undefined) return this.#text(text, name);
    if (text64 === undefined) return undefined;
    const bytes = decodeBase64Url(text64);
    if (bytes === undefined) this.fail(`${name}64`, "base64url text without padding");
    return bytes;
  }

  cursor(wire: CursorWire | undefined, field: string): Cursor {
    if (wire === undefined) return Cursor.initial();
    const lastKey = this.bytes(wire.key, wire.key64, `${field}.key`);
    const token = this.bytes(wire.token, wire.token64, `${field}.token`);
    if (lastKey === undefined) {
      if (token !== undefined) this.fail(`${field}.token`, "no token without a key");
      return Cursor.initial();
    }
    if (lastKey.length === 0) {
      this.fail(`${field}.key`, "a key that is not empty");
      return Cursor.initial();
    }
    return Cursor.fromParts({ lastKey, token });
  }

  /** The cursor at a key that was sent as text. */
  cursorAt(key: string, field: string): Cursor {
    const lastKey = this.#text(key, field);
    if (lastKey.length > 0) return Cursor.withLastKey(lastKey);
    this.fail(field, "a key that is not empty");
    return Cursor.initial();
  }

  /** A range as it was sent. The operation that takes it checks it. */
  range(wire: RangeWire, field: string): ShardSpecRef {
    return {
      keyRangeStart: this.bytes(wire.start, wire.start64, `${field}.start`) ?? NO_BYTES,
      keyRangeEnd: this.bytes(wire.end, wire.end64, `${field}.end`) ?? NO_BYTES,
      metadata: this.bytes(undefined, wire.metadata64, `${field}.metadata`) ?? NO_BYTES,
    };
  }

  lease(wire: LeaseWire, field = "lease"): Lease {
    const fence = this.fence(wire.fence, `${field}.fence`);
    const deadline = this.u64<LogicalTime>(wire.deadline, `${field}.deadline`);
    if (deadline === 0n) this.fail(`${field}.deadline`, "a deadline");
    return Lease.of({
      tenant: this.tenant(wire.tenant),
      run: this.id<RunId>(wire.run),
      shard: this.id<ShardId>(wire.shard),
      owner: this.id<WorkerId>(wire.worker),
      fence,
      deadline: (deadline === 0n ? 1n : deadline) as LogicalTime,
    });
  }

  fence(text: string, field: string): FenceEpoch {
    const fence = this.u64<FenceEpoch>(text, field);
    if (fence >= 1n) return fence;
    this.fail(field, "a fence of at least 1");
    return 1n as FenceEpoch;
  }

  opId(text: string): OpId {
    return this.id<OpId>(text);
  }

  #text(text: string, field: string): Uint8Array {
    const bytes = bytesOfText(text);
    if (bytes === undefined) this.fail(field, "text that UTF-8 can hold; send other bytes in base64url");
    return bytes ?? NO_BYTES;
  }
}
