import type { Socket } from "node:net";
import type { MonotonicClock, Timers } from "../time/system-time.ts";
import { EpochMemo } from "../wire/epoch-memo.ts";
import { FrameReader } from "../wire/frame-reader.ts";
import { decodeReply, encodeRequest, encodeToken, PREFACE, type Reply } from "../wire/frame.ts";
import { dial, type Credentials } from "./dial.ts";
import type { ClientEndpoint } from "./endpoint.ts";

/** How an attempt to get an answer ended. */
export type Outcome =
  | Reply
  /** The connection could not be made, broke, or brought something that is no reply. It is gone. */
  | {
      readonly kind: "Failed";
      readonly reason: "connect_failure" | "transport" | "decode_error";
      readonly detail: string;
    }
  /** No response came in time. The connection is closed. */
  | { readonly kind: "TimedOut" };

interface Asked {
  readonly settle: (outcome: Outcome) => void;
  readonly endsAtMs: number;
}

/**
 * One connection to one server, for any number of requests at a time. It is used until something goes
 * wrong with it, and then never again.
 */
export class Connection {
  readonly endpoint: ClientEndpoint;
  readonly #socket: Socket;
  readonly #timers: Timers;
  readonly #monotonicClock: MonotonicClock;
  readonly #reader = new FrameReader();
  readonly #epochs = new EpochMemo();
  readonly #asked = new Map<number, Asked>();
  #nextId = 0;
  #isUsable = true;
  #isConnected = false;
  /** When the watchdog looks next; never, where it does not run. */
  #watchesAtMs = Number.POSITIVE_INFINITY;
  #stopWatchdog: () => void = () => {};

  constructor(
    endpoint: ClientEndpoint,
    parts: {
      readonly timers: Timers;
      readonly monotonicClock: MonotonicClock;
      readonly credentials: Credentials;
      readonly onConnect: () => void;
    },
  ) {
    this.endpoint = endpoint;
    this.#timers = parts.timers;
    this.#monotonicClock = parts.monotonicClock;
    const { token } = parts.credentials;
    this.#socket = dial(endpoint, parts.credentials, () => {
      this.#isConnected = true;
      parts.onConnect();
    });
    this.#socket.write(token === undefined ? PREFACE : Buffer.concat([PREFACE, encodeToken(token)]));
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#socket.once("error", (error: NodeJS.ErrnoException) => this.#fail(error.code ?? error.message));
    this.#socket.once("close", () => this.#fail("the connection was closed"));
    // An idle connection does not keep the process alive.
    this.#socket.unref();
  }

  /** Whether requests may still be given to it. Connecting counts: they wait until it is done. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Ask for `count` timestamps; `settle` is called once, within `budgetMs`. */
  request(
    { count, budgetMs }: { readonly count: number; readonly budgetMs: number },
    settle: (outcome: Outcome) => void,
  ): void {
    if (!this.#isUsable) {
      settle({ kind: "Failed", reason: "transport", detail: "the connection was closed" });
      return;
    }
    const requestId = this.#nextId;
    this.#nextId = (requestId + 1) >>> 0;
    if (this.#asked.size === 0) this.#socket.ref();
    const endsAtMs = this.#monotonicClock.nowMs() + budgetMs;
    this.#asked.set(requestId, { settle, endsAtMs });
    if (endsAtMs < this.#watchesAtMs) this.#watchAt(endsAtMs);
    this.#socket.write(encodeRequest({ requestId, count }));
  }

  close(): void {
    this.#fail("the client was closed");
  }

  #read(chunk: Buffer): void {
    const isWhole = this.#reader.push(chunk, (frame) => {
      const reply = decodeReply(frame, this.#epochs);
      return reply.ok && this.#settle(reply.value.requestId, reply.value);
    });
    if (!isWhole) this.#fail("bytes that are no reply", "decode_error");
  }

  /** Returns `false` for an unexpected reply. */
  #settle(requestId: number, outcome: Outcome): boolean {
    const asked = this.#asked.get(requestId);
    if (asked === undefined) return false;
    this.#asked.delete(requestId);
    if (this.#asked.size === 0) this.#socket.unref();
    asked.settle(outcome);
    return true;
  }

  /** One timer for all requests, left running between them: setting one for each would cost more than asking. */
  #watchAt(atMs: number): void {
    this.#stopWatchdog();
    this.#watchesAtMs = atMs;
    this.#stopWatchdog = this.#timers.after(atMs - this.#monotonicClock.nowMs(), () => this.#watch(), "background");
  }

  #watch(): void {
    this.#watchesAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#monotonicClock.nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    let isLate = false;
    for (const [requestId, { endsAtMs }] of this.#asked) {
      if (endsAtMs > nowMs) nextMs = Math.min(nextMs, endsAtMs);
      else isLate = this.#settle(requestId, { kind: "TimedOut" });
    }
    // The peer does not respond, so the other requests need not wait for it.
    if (isLate) this.#fail("an answer did not come in time");
    else if (nextMs !== Number.POSITIVE_INFINITY) this.#watchAt(nextMs);
  }

  #fail(detail: string, reason: "transport" | "decode_error" = "transport"): void {
    if (!this.#isUsable) return;
    this.#isUsable = false;
    this.#stopWatchdog();
    this.#socket.destroy();
    const outcome: Outcome = { kind: "Failed", reason: this.#isConnected ? reason : "connect_failure", detail };
    for (const requestId of this.#asked.keys()) this.#settle(requestId, outcome);
  }
}
