import { assert, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { CommitOutcome } from "./commit-outcome.ts";
import type { CoreError, GrantError, PrepareError, SeedError } from "./core-error.ts";
import { Epoch } from "./epoch.ts";
import { isPhysicalMs, MAX_GRANT_COUNT, PHYSICAL_MS_MAX } from "./limits.ts";
import { appendWords, TimestampBuf, wordsOf, type MillisecondWords } from "./timestamp-buf.ts";
import { timestampBase, type Timestamp } from "./timestamp.ts";
import { isGrantCount, type WindowGrant } from "./window-grant.ts";

/** What the failover fence has established before it lets a leadership begin. */
export interface LeadershipWindow {
  /** The first millisecond that this leadership may issue. */
  readonly floorMs: number;
  /** The last one: the bound that is already durable. */
  readonly ceilingMs: number;
  readonly epoch: Epoch;
}

/**
 * Hands out timestamps up to a bound that has already been made durable.
 *
 * It is always in one of two states:
 *
 * - *not leader*: every call but `seed` is refused. `stepDown` leads here, from anywhere.
 * - *leader*: holds an epoch, the durable bound and a cursor, the next timestamp to issue. `seed`
 *   leads here; seeding again replaces all three.
 *
 * It does no I/O and never waits. When the window runs out it says so; the caller asks
 * `prepareWindowExtension` for a later bound, makes that durable, and hands what became durable to
 * `commitWindowExtension`. A refused call changes nothing.
 *
 * Methods that take a clock reading and a count take them by position, to spare a hot call an
 * object. Swapping them is caught: no clock reading of this century is a valid count.
 */
export class WindowAllocator {
  #epoch: Epoch | undefined;
  #highWaterMs = 0;

  // The cursor. Always packs, but for (PHYSICAL_MS_MAX + 1, 0) once the very last millisecond is used up.
  #physicalMs = 0;
  #logical = 0;

  // The clock reading of the last grant, while the cursor's millisecond can serve another one: asked again
  // with the same reading, only the counter is left to check. NaN equals nothing, and so means "no".
  #settledNowMs = Number.NaN;

  // The cursor's millisecond as a bigint and as words, computed if a caller needs these, and kept for the next one.
  #base = 0n;
  #baseMs = -1;
  #words: MillisecondWords = wordsOf(0);
  #wordsMs = 0;

  get isLeader(): boolean {
    return this.#epoch !== undefined;
  }

  get epoch(): Epoch | undefined {
    return this.#epoch;
  }

  /** The durable bound, inclusive; `undefined` if there is no leadership. */
  get committedHighWaterMs(): number | undefined {
    return this.#epoch === undefined ? undefined : this.#highWaterMs;
  }

  /** Begin a leadership. The ceiling must be durable by now, and the floor above whatever was issued before. */
  seed(window: LeadershipWindow): Result<void, SeedError> {
    assertObject(window, "a leadership's window");
    const { floorMs, ceilingMs, epoch } = window;
    assert(Epoch.tryFromRaw(epoch).ok, "a leadership has an epoch from 0 to 2^128 - 1");
    if (!isPhysicalMs(floorMs)) return err({ kind: "PhysicalMsOutOfRange", physicalMs: floorMs });
    if (!isPhysicalMs(ceilingMs)) return err({ kind: "PhysicalMsOutOfRange", physicalMs: ceilingMs });
    if (ceilingMs < floorMs) return err({ kind: "InvalidLeadershipWindow", floorMs, ceilingMs });
    this.#epoch = epoch;
    this.#highWaterMs = ceilingMs;
    this.#moveTo(floorMs);
    return ok();
  }

  /** End the leadership and forget its window. Doing it twice is doing it once. */
  stepDown(): void {
    this.#epoch = undefined;
    this.#highWaterMs = 0;
    this.#moveTo(0);
  }

  /** Grant `count` timestamps of one millisecond, greater than all granted before. */
  tryGrant(nowMs: number, count: number): Result<WindowGrant, GrantError> {
    const refusal = this.#reserve(nowMs, count);
    if (refusal !== undefined) return err(refusal);
    const grant: WindowGrant = {
      physicalMs: this.#physicalMs,
      logicalStart: this.#logical,
      count,
      epoch: this.#epoch!,
    };
    this.#advance(count);
    return ok(grant);
  }

  /** Grant `count` timestamps and append them to `out`, which must have room for them. Hot: allocates nothing. */
  tryGrantInto(nowMs: number, count: number, out: TimestampBuf): Result<void, GrantError> {
    assert(out instanceof TimestampBuf, "a grant goes into a TimestampBuf");
    // An invalid count is refused below; only a valid one can be too large for the buffer.
    assert(!isGrantCount(count) || count <= out.room, "the buffer has room for the grant");
    const refusal = this.#reserve(nowMs, count);
    if (refusal !== undefined) return err(refusal);
    if (this.#wordsMs !== this.#physicalMs) {
      this.#wordsMs = this.#physicalMs;
      this.#words = wordsOf(this.#physicalMs);
    }
    appendWords(out, this.#words, this.#logical, count);
    this.#advance(count);
    return ok();
  }

  /** Grant one timestamp, packed. */
  tryGrantTimestamp(nowMs: number): Result<Timestamp, GrantError> {
    const refusal = this.#reserve(nowMs, 1);
    if (refusal !== undefined) return err(refusal);
    if (this.#baseMs !== this.#physicalMs) {
      this.#baseMs = this.#physicalMs;
      this.#base = timestampBase(this.#physicalMs);
    }
    const timestamp = (this.#base + BigInt(this.#logical)) as Timestamp;
    this.#advance(1);
    return ok(timestamp);
  }

  /** Whether `tryGrant` with the same arguments would succeed now. */
  wouldGrant(nowMs: number, count: number): boolean {
    return typeof this.#project(nowMs, count) === "number";
  }

  /**
   * The bound to make durable next: `aheadMs` past the clock, or past the current bound if the clock lags
   * behind it. Changes nothing.
   */
  prepareWindowExtension(request: { readonly nowMs: number; readonly aheadMs: number }): Result<number, PrepareError> {
    assertObject(request, "the clock and how far ahead of it to extend");
    const { nowMs, aheadMs } = request;
    if (this.#epoch === undefined) return err({ kind: "NotLeader" });
    if (!Number.isInteger(nowMs) || nowMs < 0) return err({ kind: "PhysicalMsOutOfRange", physicalMs: nowMs });
    const floorMs = this.#highWaterMs + 1;
    const targetMs = typeof aheadMs === "number" ? Math.max(floorMs, nowMs) + aheadMs : Number.NaN;
    if (!Number.isSafeInteger(targetMs) || aheadMs < 0) {
      return err({ kind: "WindowExtensionOverflow", floorMs, nowMs, aheadMs });
    }
    if (targetMs > PHYSICAL_MS_MAX) return err({ kind: "PhysicalMsOutOfRange", physicalMs: targetMs });
    return ok(targetMs);
  }

  /**
   * Accept a bound that is now durable, for the leadership that asked for it.
   *
   * A commit that comes late, from another leadership or without effect is an outcome and no error. The bound
   * may exceed what was prepared: the driver then already had a greater one.
   */
  commitWindowExtension(
    persistedMs: number,
    expectedEpoch: Epoch,
  ): Result<CommitOutcome, CoreError<"PhysicalMsOutOfRange">> {
    if (!isPhysicalMs(persistedMs)) return err({ kind: "PhysicalMsOutOfRange", physicalMs: persistedMs });
    const current = this.#epoch;
    if (current === undefined) return ok({ kind: "Ignored", reason: { kind: "NotLeader" } });
    if (current !== expectedEpoch) {
      return ok({ kind: "Ignored", reason: { kind: "EpochMismatch", expected: expectedEpoch, current } });
    }
    const committedMs = this.#highWaterMs;
    if (persistedMs <= committedMs) {
      return ok({ kind: "Ignored", reason: { kind: "NotAdvanced", persistedMs, committedMs } });
    }
    this.#highWaterMs = persistedMs;
    return ok({ kind: "Applied", highWaterMs: persistedMs });
  }

  /** Move the cursor to where `count` timestamps can be taken; on refusal leave it. */
  #reserve(nowMs: number, count: number): GrantError | undefined {
    // The common case: the clock has not moved since the last grant, and the millisecond has room.
    if (
      nowMs === this.#settledNowMs &&
      typeof count === "number" &&
      count >= 1 &&
      this.#logical + count <= MAX_GRANT_COUNT &&
      count === (count | 0)
    ) {
      return undefined;
    }
    const physicalMs = this.#project(nowMs, count);
    if (typeof physicalMs !== "number") return physicalMs;
    if (physicalMs !== this.#physicalMs) this.#moveTo(physicalMs);
    this.#settledNowMs = nowMs;
    return undefined;
  }

  /** The millisecond that a grant would come from. Where it is the cursor's own, its counter goes on; else it starts at 0. */
  #project(nowMs: number, count: number): number | GrantError {
    if (!isGrantCount(count)) return { kind: "InvalidCount", count };
    if (this.#epoch === undefined) return { kind: "NotLeader" };
    if (!Number.isInteger(nowMs) || nowMs < 0) return { kind: "PhysicalMsOutOfRange", physicalMs: nowMs };

    // The clock may only push forward: one at or behind the cursor is ignored.
    let physicalMs = this.#physicalMs;
    if (nowMs > physicalMs) physicalMs = nowMs;
    else if (this.#logical + count > MAX_GRANT_COUNT) physicalMs += 1;

    if (physicalMs > PHYSICAL_MS_MAX) return { kind: "PhysicalMsOutOfRange", physicalMs };
    if (physicalMs > this.#highWaterMs) return { kind: "WindowExhausted" };
    return physicalMs;
  }

  #moveTo(physicalMs: number): void {
    this.#physicalMs = physicalMs;
    this.#logical = 0;
    this.#settledNowMs = Number.NaN;
  }

  #advance(count: number): void {
    this.#logical += count;
    // A full millisecond is left at once, so that the cursor is always a timestamp that could be issued.
    if (this.#logical === MAX_GRANT_COUNT) this.#moveTo(this.#physicalMs + 1);
  }
}
