import { useApp } from "../app.ts";
import type { ConsoleEvent } from "../data/api-types.ts";
import { formatClock } from "../format/times.ts";
import { eventText } from "../format/event-text.ts";
import { shortId, workerTitle } from "../format/titles.ts";
import { hrefOf } from "../route/route.ts";
import { ShardLink } from "./parts.tsx";

export function EventTable({
  events,
  isShort = false,
  titles,
}: {
  readonly events: readonly ConsoleEvent[];
  readonly isShort?: boolean;
  /** What runs are called, by id. */
  readonly titles?: ReadonlyMap<string, string>;
}) {
  const app = useApp();
  const nowMs = app.nowMs.value;
  const tenant = app.location.value.query["tenant"];
  const titleOf = (run: string): string | undefined => {
    const title = titles?.get(run);
    return title === run ? undefined : title;
  };
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Events">
      <table class="events">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">What</th>
            {!isShort && <th scope="col">Run</th>}
            {!isShort && <th scope="col">Shard</th>}
            <th scope="col">Worker</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.id}>
              <td class="event-time">{formatClock(event.atMs, nowMs)}</td>
              <td>{eventText(event)}</td>
              {!isShort && (
                <td class="item">
                  <a href={hrefOf({ page: "run", run: event.run }, { tenant })} title={event.run}>
                    {titleOf(event.run) ?? <code>{shortId(event.run)}</code>}
                  </a>
                </td>
              )}
              {!isShort && (
                <td>{event.shard === undefined ? "–" : <ShardLink run={event.run} shard={event.shard} />}</td>
              )}
              <td>
                {event.worker === undefined ? (
                  "–"
                ) : (
                  <span title={event.worker}>{workerTitle({ worker: event.worker, name: event.workerName })}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
