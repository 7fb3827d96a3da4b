import type { RunId, TenantId } from "@gossip/contracts";
import { writeId, type ConsoleEventWire } from "@gossip/protocol";
import type { ServerResponse } from "node:http";
import type { ConsoleService } from "./console-service.ts";
import type { RunView } from "./run-view.ts";

export interface ConsoleStreamOptions {
  readonly service: ConsoleService;
  readonly tenant: TenantId;
  /** Only this run; `undefined` for all runs of the tenant. */
  readonly run: RunId | undefined;
  /** The last event that the reader has seen. */
  readonly after: string | undefined;
  readonly maxUnsentBytes: number;
}

/** How often an idle stream shows that it is alive, and that its runs are still looked at. */
const HEARTBEAT_MS = 15_000;
/** What a reader sends as its last event to begin with the newest events. */
const RECENT = "recent";
/** Runs that are looked at for a reader of all runs. */
const MAX_RUNS = 8;

/** Send what looks at runs show, until the reader leaves or is too slow. */
export async function streamConsoleEvents(response: ServerResponse, options: ConsoleStreamOptions): Promise<void> {
  const { service, tenant, run, after, maxUnsentBytes } = options;
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.flushHeaders();
  const runText = run === undefined ? undefined : writeId(run);
  let hasLeft = false;
  const send = (event: ConsoleEventWire): void => {
    if (event.tenant !== tenant || (runText !== undefined && event.run !== runText) || hasLeft) return;
    response.write(`id: ${event.id}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`);
    // It can come back with its last id. Keeping the events for it would make memory grow.
    if (response.writableLength > maxUnsentBytes) response.destroy();
  };
  const beat = async (): Promise<void> => {
    for (const view of await viewsFor(service, tenant, run)) view.touch(2 * HEARTBEAT_MS);
  };
  let stopListening: (() => void) | undefined;
  const beating = setInterval(() => {
    response.write(": \n\n");
    void beat();
  }, HEARTBEAT_MS);
  beating.unref();
  response.on("close", () => {
    hasLeft = true;
    clearInterval(beating);
    stopListening?.();
  });
  const views = await viewsFor(service, tenant, run);
  // After a restart, what happened meanwhile is known after a first look.
  if (after !== undefined) await Promise.all(views.map((view) => view.fresh()));
  if (hasLeft) return;
  if (after === RECENT) for (const event of service.events.recent({ tenant, run: runText })) send(event);
  else if (after !== undefined) {
    const { events, hasGap } = service.events.after(after);
    if (hasGap) response.write("event: gap\ndata: {}\n\n");
    for (const event of events) send(event);
  }
  stopListening = service.events.listen(send);
  for (const view of views) view.touch(2 * HEARTBEAT_MS);
}

/** What to look at for a reader: one run, or those of the tenant that have not ended. */
async function viewsFor(
  { options, views }: ConsoleService,
  tenant: TenantId,
  run: RunId | undefined,
): Promise<RunView[]> {
  const { coordinator } = options;
  if (run !== undefined) {
    const record = await coordinator.getRun({ tenant, run });
    return record.ok ? [views.of(record.value)] : [];
  }
  const page = await coordinator.listRuns({ tenant, limit: 1000 });
  if (!page.ok) return [];
  const active = page.value.items.filter(({ status }) => status === "Active" || status === "Initializing");
  return active.slice(-MAX_RUNS).map((record) => views.of(record));
}
