import { CoordinationEvent } from "@gossip/coordination";
import type { ServerResponse } from "node:http";
import { matches, type EventFilter, type EventLog, type LoggedEvent } from "./event-log.ts";

export interface StreamOptions {
  readonly log: EventLog;
  readonly filter: EventFilter;
  /** The last event that the reader has seen. */
  readonly after: string | undefined;
  readonly format: "sse" | "ndjson";
  /** How many bytes the reader may be behind before it is cut off. */
  readonly maxUnsentBytes: number;
}

/** How often an idle stream shows that it is alive. */
const HEARTBEAT_MS = 15_000;

/** Send events until the reader leaves, or is too slow. */
export function streamEvents(response: ServerResponse, options: StreamOptions): void {
  const { log, filter, after, format, maxUnsentBytes } = options;
  const write = format === "sse" ? writeSse : writeNdjson;
  response.writeHead(200, {
    "content-type": format === "sse" ? "text/event-stream" : "application/x-ndjson",
    "cache-control": "no-store",
  });
  const send = (logged: LoggedEvent): void => {
    if (!matches(filter, logged.event)) return;
    response.write(write(logged));
    // It can come back with its last id. Keeping the events for it would make memory grow.
    if (response.writableLength > maxUnsentBytes) response.destroy();
  };
  if (after !== undefined) {
    const { events, hasGap } = log.after(after);
    if (hasGap) response.write(format === "sse" ? "event: gap\ndata: {}\n\n" : '{"kind":"Gap"}\n');
    for (const logged of events) send(logged);
  }
  const stopListening = log.listen(send);
  const beating = setInterval(() => response.write(format === "sse" ? ":\n\n" : "\n"), HEARTBEAT_MS);
  beating.unref();
  response.flushHeaders();
  response.on("close", () => {
    clearInterval(beating);
    stopListening();
  });
}

function writeSse({ id, event }: LoggedEvent): string {
  return `id: ${id}\nevent: ${event.kind}\ndata: ${JSON.stringify(CoordinationEvent.toJson(event))}\n\n`;
}

function writeNdjson({ id, event }: LoggedEvent): string {
  return `${JSON.stringify({ id, ...(CoordinationEvent.toJson(event) as object) })}\n`;
}
