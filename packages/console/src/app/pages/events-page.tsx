import { useApp } from "../app.ts";
import type { RunPage } from "../data/api-types.ts";
import { matchesFilter, pauseEvents, resumeEvents } from "../data/event-list.ts";
import { useResource } from "../data/use-resource.ts";
import { EVENT_KINDS } from "../format/event-text.ts";
import { formatCount, plural } from "../format/numbers.ts";
import { runTitle } from "../format/titles.ts";
import { EventTable } from "../parts/event-table.tsx";
import { Empty } from "../parts/parts.tsx";
import { hrefOf } from "../route/route.ts";

/** Rows that are shown. The list keeps more, for the filter. */
const MAX_ROWS = 300;

/** What happens, as it happens. */
export function EventsPage() {
  const app = useApp();
  const { query } = app.location.value;
  const filter = { kind: query["kind"] ?? "", run: query["run"] ?? "", text: query["text"] ?? "" };
  const list = app.events.value;
  const found = list.shown.filter((event) => matchesFilter(event, filter));
  const runs = useResource<RunPage>("console/runs", { tenant: query["tenant"], limit: 100 }, { everyMs: 10_000 });
  const titles = new Map(runs.data?.runs.map((run) => [run.run, runTitle(run)]));
  const change = (name: string, value: string): void => {
    window.location.hash = hrefOf({ page: "events" }, { tenant: query["tenant"], ...filter, [name]: value });
  };
  return (
    <>
      <div class="page-head">
        <div class="title">
          <h1>Events</h1>
          <p class="sub" role="status">
            {list.isPaused
              ? `Paused. ${plural(list.waiting.length + list.missed, "new event")} since then.`
              : `Live. The last ${formatCount(list.shown.length)} are kept here.`}
          </p>
        </div>
        <button
          type="button"
          class="button"
          aria-pressed={list.isPaused}
          onClick={() => (app.events.value = list.isPaused ? resumeEvents(list) : pauseEvents(list))}
        >
          {list.isPaused ? "Go on" : "Pause"}
        </button>
      </div>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label class="field grow">
          Start of an id, or a word
          <input type="search" value={filter.text} onInput={(event) => change("text", event.currentTarget.value)} />
        </label>
        <label class="field">
          What
          <select value={filter.kind} onChange={(event) => change("kind", event.currentTarget.value)}>
            <option value="">everything</option>
            {EVENT_KINDS.map(([kind, name]) => (
              <option value={kind} key={kind}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {filter.run !== "" && (
          <button type="button" class="button" onClick={() => change("run", "")}>
            All runs
          </button>
        )}
      </form>
      {list.hasGap && (
        <div class="banner">
          <div class="text">
            Some events are missing from this list: the connection was lost, or there were too many.
          </div>
        </div>
      )}
      <div class="panel">
        {found.length === 0 ? (
          <Empty title={list.shown.length === 0 ? "No events yet" : "No event matches"}>
            <p>{list.shown.length === 0 ? "They appear here as they happen." : "New ones that match appear here."}</p>
          </Empty>
        ) : (
          <EventTable events={found.slice(0, MAX_ROWS)} titles={titles} />
        )}
      </div>
    </>
  );
}
