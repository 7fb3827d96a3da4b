import { protocolError, type Priority, type ProtocolError } from "@gossip/protocol";
import { err, ok, type Result } from "@gossip/stdx";
import type { ServiceLimits } from "./limits.ts";

/** How long a refused client should wait. It adds its own jitter. */
const RETRY_AFTER_MS = 1_000;

/** Some work of a client. */
export interface Load {
  /** The id of its token. */
  readonly token: string;
  readonly elements: number;
  readonly priority: Priority;
}

/** Bytes of one body, counted before they are read. */
export interface BodyAllowance {
  /** Ask for more bytes. Returns false if the server has too many in hand. */
  take(bytes: number): boolean;
  /** The body is not needed any more. */
  release(): void;
}

/**
 * Counts the work in progress and refuses what is too much, before memory grows.
 *
 * Work on held leases may use the whole capacity and new work a part of it, so that a crowd of claimers cannot make
 * workers lose their leases.
 */
export class Admission {
  readonly #limits: ServiceLimits;
  readonly #byToken = new Map<string, number>();
  #elements = 0;
  #newElements = 0;
  #bytes = 0;
  #refused = 0;

  constructor(limits: ServiceLimits) {
    this.#limits = limits;
  }

  get pendingElements(): number {
    return this.#elements;
  }

  /** Bytes of bodies that are being received or executed. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  get refusedRequests(): number {
    return this.#refused;
  }

  /** Take work on. Call the result when it is done. */
  admit(load: Load): Result<() => void, ProtocolError> {
    const refusal = this.#refusal(load);
    if (refusal !== undefined) {
      this.#refused++;
      return err(refusal);
    }
    this.#add(load, 1);
    let isDone = false;
    return ok(() => {
      if (!isDone) this.#add(load, -1);
      isDone = true;
    });
  }

  /** Bytes for a body that is about to be read. */
  openBody(): BodyAllowance {
    let taken = 0;
    return {
      take: (bytes) => {
        // One that is larger than the limit is taken when nothing else is there: it could never be read otherwise.
        if (this.#bytes > taken && this.#bytes + bytes > this.#limits.maxPendingBytes) {
          this.#refused++;
          return false;
        }
        taken += bytes;
        this.#bytes += bytes;
        return true;
      },
      release: () => {
        this.#bytes -= taken;
        taken = 0;
      },
    };
  }

  #refusal({ token, elements, priority }: Load): ProtocolError | undefined {
    const { maxPendingElements, maxPendingNew, maxPendingPerToken } = this.#limits;
    // A request larger than a limit is taken when nothing else is there: it could never succeed otherwise.
    const isOver = (used: number, more: number, max: number) => used > 0 && used + more > max;
    if (isOver(this.#byToken.get(token) ?? 0, elements, maxPendingPerToken))
      return protocolError("TooManyRequests", "this token has too many requests in progress", RETRY);
    if (isOver(this.#elements, elements, maxPendingElements))
      return protocolError("Overloaded", "the server has too many requests in progress", RETRY);
    if (priority === "new" && isOver(this.#newElements, elements, maxPendingNew))
      return protocolError("Overloaded", "the server has too many claims in progress", RETRY);
    return undefined;
  }

  #add({ token, elements, priority }: Load, sign: 1 | -1): void {
    this.#elements += sign * elements;
    if (priority === "new") this.#newElements += sign * elements;
    const ofToken = (this.#byToken.get(token) ?? 0) + sign * elements;
    if (ofToken > 0) this.#byToken.set(token, ofToken);
    else this.#byToken.delete(token);
  }
}

const RETRY = { retryAfterMs: RETRY_AFTER_MS } as const;
