import type { WorkerId } from "@gossip/contracts";
import type { BudgetRenewal, CoordinatorApi, RunRequest, RunSettings } from "@gossip/coordination";
import type { GetRunError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { WorkerTime } from "../time/worker-time.ts";
import { ItemPace } from "./item-pace.ts";

/** How often the budget is renewed. Half of what a run may do in a second is with the workers, half in the book. */
const RENEW_MS = 500;
/** How long a part of the budget lasts. What a crashed process had returns after this time. */
const TTL_MS = 5000;
/**
 * The shortest time between two renewals. If many processes asked again as soon as they have nothing, each would get a
 * single item, and all would write the book all the time. Items accrue meanwhile.
 */
const MIN_RENEW_MS = 250;
/** The shortest time to wait for the next item. */
const MIN_WAIT_MS = 1;
/** Workers that wait for the same item do not ask for it in the same moment. */
const MAX_JITTER_MS = 20;
/** As many items as there are. */
const UNLIMITED = 1_000_000_000;
/** How long the end of the work may wait for the budget to be returned. */
const MAX_CLOSE_MS = 2000;
/** A hold that is longer by less than this is not worth a write. */
const MIN_HOLD_MS = 100;

/** What this process has in progress, and what it could have. */
export interface Demand {
  readonly inFlight: number;
  readonly capacity: number;
}

export interface LimiterOptions {
  readonly coordinator: CoordinatorApi;
  readonly run: RunRequest;
  readonly worker: WorkerId;
  readonly time: WorkerTime;
  readonly demand: () => Demand;
  /** Items that had to wait may be able to start now. */
  readonly onRoom: () => void;
  /** An invariant was broken. */
  readonly onBug: (error: unknown) => void;
}

/**
 * Keeps the items of this process within its part of the run's limits.
 *
 * A part is requested when the first item has to wait for it, and renewed while there is work. Nothing starts without
 * one: if the store is unavailable, the part of this process ends, and its place is given to others.
 */
export class FleetLimiter {
  readonly #options: LimiterOptions;
  readonly #pace = new ItemPace();
  #hasRate = false;
  #hasSlots = false;
  #holdUntilMs = -Infinity;
  #isLimited = false;
  #slots = 0;
  #slotTarget = 0;
  /** When the part of this process ends. */
  #deadlineMs = -Infinity;
  #askedMs = -Infinity;
  /** No renewal before this time would bring an item. */
  #notBeforeMs = -Infinity;
  #isAsking = false;
  /** Items started since the last renewal, and whether one had to wait for the rate. */
  #used = 0;
  #wasShort = false;
  /** The most items in progress since then, and whether one had to wait for a slot. */
  #peak = 0;
  #wasFull = false;
  #renewal: Timer | undefined;
  #wakeup: Timer | undefined;
  #isOver = false;

  constructor(options: LimiterOptions) {
    this.#options = options;
  }

  /** The settings of the run, as they were just read. */
  apply({ itemsPerSecond, concurrency, heldForMs }: RunSettings): void {
    const hadLimits = this.#hasRate || this.#hasSlots;
    this.#hasRate = itemsPerSecond !== null;
    this.#hasSlots = concurrency !== null;
    if (heldForMs > 0) this.#holdUntilMs = Math.max(this.#holdUntilMs, this.#options.time.nowMs() + heldForMs);
    this.#isLimited = this.#hasRate || this.#hasSlots || this.#options.time.nowMs() < this.#holdUntilMs;
    if (!hadLimits || this.#hasRate || this.#hasSlots) return;
    this.#pace.clear();
    this.#options.onRoom();
  }

  /** Start nothing in the whole run for a while: a service that all of it uses asked for a pause. */
  hold(ms: number): void {
    const { coordinator, run, time, onBug } = this.#options;
    const untilMs = time.nowMs() + ms;
    if (untilMs < this.#holdUntilMs + MIN_HOLD_MS) return;
    this.#holdUntilMs = untilMs;
    this.#isLimited = true;
    // Advisory: if it fails, only this process waits.
    void coordinator.holdRun({ ...run, ms }).catch(onBug);
  }

  /** Whether an item may be started now. If not, `onRoom` is called when that may have changed. Hot. */
  mayStart(): boolean {
    if (!this.#isLimited) return true;
    return this.#isOpen() && this.#hasSlot() && this.#hasItem();
  }

  /** Whether an item that is in progress already may be tried again now. */
  mayRetry(): boolean {
    return !this.#isLimited || (this.#isOpen() && this.#hasItem());
  }

  /** An item is started or tried again. */
  took(): void {
    if (!this.#hasRate) return;
    this.#pace.take();
    this.#used++;
  }

  /** Return what is left. Does not wait long for a slow store: the part also ends by itself. */
  async close(): Promise<void> {
    this.stop();
    if (this.#deadlineMs === -Infinity) return;
    const { time } = this.#options;
    let cancel = (): void => undefined;
    const limit = new Promise<void>((resolve) => (cancel = time.startTimer(MAX_CLOSE_MS, resolve)));
    await Promise.race([this.#leave(), limit]);
    cancel();
  }

  stop(): void {
    this.#isOver = true;
    this.#renewal?.cancel();
    this.#wakeup?.cancel();
  }

  /** Whether no hold is in effect. The part of the budget ends here if it was not renewed. */
  #isOpen(): boolean {
    const nowMs = this.#options.time.nowMs();
    if (nowMs < this.#holdUntilMs) {
      this.#wakeAt(this.#holdUntilMs);
      return false;
    }
    this.#isLimited = this.#hasRate || this.#hasSlots;
    if (nowMs >= this.#deadlineMs) {
      this.#pace.clear();
      this.#slots = 0;
    }
    return true;
  }

  #hasSlot(): boolean {
    // Above its fair share a process finishes what it has, so that others get the slots.
    if (!this.#hasSlots) return true;
    const { inFlight } = this.#options.demand();
    if (inFlight < Math.min(this.#slots, this.#slotTarget)) {
      this.#peak = Math.max(this.#peak, inFlight + 1);
      return true;
    }
    this.#wasFull = true;
    // While the part is valid, a renewal is scheduled. Another one would not bring more.
    if (this.#options.time.nowMs() >= this.#deadlineMs) this.#renewAt(this.#askedMs + MIN_RENEW_MS);
    return false;
  }

  #hasItem(): boolean {
    if (!this.#hasRate) return true;
    const nowMs = this.#options.time.nowMs();
    const untilMs = this.#pace.untilNextMs(nowMs);
    if (untilMs === 0) return true;
    if (untilMs !== undefined) {
      this.#wakeAt(nowMs + Math.max(MIN_WAIT_MS, untilMs));
      return false;
    }
    this.#wasShort = true;
    this.#renewAt(Math.max(this.#askedMs + MIN_RENEW_MS, this.#notBeforeMs));
    return false;
  }

  // Renewing.

  #renewAt(atMs: number): void {
    if (this.#isOver || this.#isAsking || (this.#renewal !== undefined && this.#renewal.atMs <= atMs)) return;
    this.#renewal?.cancel();
    const { time, onBug } = this.#options;
    this.#renewal = startTimer(time, atMs, () => {
      this.#renewal = undefined;
      this.#renew().catch(onBug);
    });
  }

  #wakeAt(atMs: number): void {
    if (this.#isOver || (this.#wakeup !== undefined && this.#wakeup.atMs <= atMs)) return;
    this.#wakeup?.cancel();
    const { time, onRoom } = this.#options;
    this.#wakeup = startTimer(time, atMs, () => {
      this.#wakeup = undefined;
      onRoom();
    });
  }

  async #renew(): Promise<void> {
    const { coordinator, run, worker, time, demand } = this.#options;
    if (!this.#hasRate && !this.#hasSlots) return;
    const { inFlight, capacity } = demand();
    this.#isAsking = true;
    this.#askedMs = time.nowMs();
    // Whether or not the answer arrives, no more slots than these are used until then.
    this.#slots = this.#hasSlots ? Math.max(inFlight, Math.min(this.#slots, this.#slotTarget)) : 0;
    if (capacity === 0 && inFlight === 0) {
      await this.#leave();
      this.#isAsking = false;
      return;
    }
    const { held } = this.#pace;
    const wanted = this.#wasShort ? UNLIMITED : Math.max(0, 1 + Math.ceil(1.5 * this.#used) - held);
    // A process that did not use all of its slots leaves them to others, whatever it could have in progress.
    const slotsWanted = this.#wasFull ? capacity : Math.min(capacity, Math.max(inFlight, this.#peak) + 1);
    this.#used = this.#peak = 0;
    this.#wasShort = this.#wasFull = false;
    const claim = { held, returned: 0, wanted, slots: this.#slots, slotsWanted, ttl: BigInt(TTL_MS) };
    const renewed = await coordinator.renewBudget({ ...run, worker, ...claim });
    this.#isAsking = false;
    if (!this.#isOver) this.#take(renewed);
  }

  #take(renewed: Result<BudgetRenewal, GetRunError>): void {
    const { time, onRoom } = this.#options;
    const nowMs = time.nowMs();
    if (renewed.ok) this.apply(renewed.value.settings);
    const grant = renewed.ok ? renewed.value.grant : undefined;
    if (grant === undefined) {
      // An error: what this process has is valid until its end.
      if (this.#hasRate || this.#hasSlots) this.#renewAt(nowMs + RENEW_MS);
      return;
    }
    this.#deadlineMs = this.#askedMs + TTL_MS;
    this.#pace.give(grant.items, { nowMs, withinMs: RENEW_MS });
    this.#slots = grant.slots;
    this.#slotTarget = grant.slotTarget;
    const waitMs = Math.min(RENEW_MS, grant.untilItemMs ?? RENEW_MS) + MAX_JITTER_MS * time.random();
    this.#notBeforeMs = grant.untilItemMs === undefined ? -Infinity : nowMs + waitMs;
    this.#renewAt(this.#askedMs + Math.max(MIN_RENEW_MS, waitMs));
    onRoom();
  }

  async #leave(): Promise<void> {
    const { coordinator, run, worker } = this.#options;
    if (this.#deadlineMs === -Infinity) return;
    this.#deadlineMs = -Infinity;
    this.#slots = this.#slotTarget = 0;
    // Advisory: what is not returned ends by itself.
    void (await coordinator.returnBudget({ ...run, worker, returned: this.#pace.clear() }));
  }
}

interface Timer {
  readonly atMs: number;
  cancel(): void;
}

function startTimer(time: WorkerTime, atMs: number, callback: () => void): Timer {
  return { atMs, cancel: time.startTimer(Math.max(0, atMs - time.nowMs()), callback) };
}
