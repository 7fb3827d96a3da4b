import type { ConsoleEvent } from "./api-types.ts";
import { backoffMs } from "./backoff.ts";
import type { Query } from "./call.ts";
import type { ApiClient } from "./client.ts";
import type { ConnectionChange } from "./connection.ts";
import { SseParser } from "./sse-parser.ts";

export interface StreamListener {
  onEvents(events: readonly ConsoleEvent[]): void;
  /** Events may be missing. What is shown must be read again. */
  onGap(): void;
  onChange(change: ConnectionChange): void;
  onUnauthenticated(): void;
}

/** The server sends a heartbeat every 15 s. A stream that is silent for longer is dead, even if it is open. */
const SILENCE_MS = 40_000;

/** What the server takes for the last event of a page that has seen none: send the newest ones. */
const RECENT = "recent";

/** Reads events until it is stopped. Goes on after the last event whenever the stream ends. */
export class EventStream {
  readonly #client: ApiClient;
  readonly #query: Query;
  readonly #listener: StreamListener;
  readonly #stopped = new AbortController();
  #lastId: string | undefined;
  #attempt = 0;
  #wake: (() => void) | undefined;

  constructor(client: ApiClient, query: Query, listener: StreamListener) {
    this.#client = client;
    this.#query = query;
    this.#listener = listener;
  }

  start(): this {
    void this.#run();
    return this;
  }

  stop(): void {
    this.#stopped.abort();
    this.#wake?.();
  }

  /** Connect now instead of at the end of the wait. */
  retryNow(): void {
    this.#wake?.();
  }

  async #run(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const isSignedOut = await this.#readOnce();
      if (this.#stopped.signal.aborted) return;
      if (isSignedOut) return this.#listener.onUnauthenticated();
      const waitMs = backoffMs(this.#attempt++, Math.random());
      const atMs = Date.now();
      this.#listener.onChange({ kind: "failed", atMs, nextTryMs: atMs + waitMs });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Returns whether the server asked for a token. */
  async #readOnce(): Promise<boolean> {
    const ended = new AbortController();
    const stop = (): void => ended.abort();
    this.#stopped.signal.addEventListener("abort", stop);
    let watchdog = setTimeout(stop, SILENCE_MS);
    try {
      const lastId = this.#lastId ?? RECENT;
      const opened = await this.#client.stream("console/events", this.#query, lastId, ended.signal);
      if (!opened.ok) return opened.error.kind === "Unauthenticated";
      // After an outage, what is shown may be old even if the server has all events.
      if (this.#attempt > 0) this.#listener.onGap();
      this.#attempt = 0;
      this.#listener.onChange({ kind: "opened" });
      const parser = new SseParser();
      const decoder = new TextDecoder();
      const reader = opened.value.body!.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return false;
        clearTimeout(watchdog);
        watchdog = setTimeout(stop, SILENCE_MS);
        this.#take(parser, decoder.decode(value, { stream: true }));
      }
    } catch {
      return false;
    } finally {
      clearTimeout(watchdog);
      this.#stopped.signal.removeEventListener("abort", stop);
      ended.abort();
    }
  }

  #take(parser: SseParser, text: string): void {
    const events: ConsoleEvent[] = [];
    for (const { id, event, data } of parser.push(text)) {
      if (event === "gap") this.#listener.onGap();
      else {
        const parsed = parseEvent(data);
        if (parsed !== undefined) events.push(parsed);
      }
      this.#lastId = id ?? this.#lastId;
    }
    if (events.length > 0) this.#listener.onEvents(events);
  }
}

function parseEvent(data: string): ConsoleEvent | undefined {
  try {
    return JSON.parse(data) as ConsoleEvent;
  } catch {
    return undefined;
  }
}
