import { useEffect, useRef, useState } from "preact/hooks";
import { useApp, type Change } from "../app.ts";
import { urlOf, type CallError, type Query } from "./call.ts";

export interface Resource<T> {
  /** The last answer. It stays while a new one is on its way, and when one fails. */
  readonly data: T | undefined;
  /** Why the last read failed. */
  readonly error: CallError | undefined;
  readonly isLoading: boolean;
  readonly refresh: () => void;
}

export interface ResourceOptions {
  /** Only changes of this run matter. */
  readonly run?: string | undefined;
  /** What is shown belongs to this. When it changes, the old answer is dropped instead of being shown longer. */
  readonly of?: string | undefined;
  /** The least time between two reads. */
  readonly everyMs?: number;
}

const EVERY_MS = 1_000;
/** Read again even without an event: events of other servers do not reach this one. */
const IDLE_MS = 10_000;

interface State<T> {
  readonly of: string | undefined;
  readonly data: T | undefined;
  readonly error: CallError | undefined;
  readonly isLoading: boolean;
}

/** Reads an operation, and again whenever the server reports a change. Without a path nothing is read. */
export function useResource<T>(
  path: string | undefined,
  query: Query = {},
  options: ResourceOptions = {},
): Resource<T> {
  const app = useApp();
  const { run, of, everyMs = EVERY_MS } = options;
  const url = path === undefined ? undefined : urlOf("http://x/console/", path, query);
  const [state, setState] = useState<State<T>>({ of, data: undefined, error: undefined, isLoading: true });
  const refreshNow = useRef<() => void>(() => {});

  useEffect(() => {
    if (path === undefined) return undefined;
    const stopped = new AbortController();
    let timer: number | undefined;
    let startedMs = 0;
    let isReading = false;
    let isWanted = false;

    const read = async (): Promise<void> => {
      isReading = true;
      isWanted = false;
      startedMs = Date.now();
      const answer = await app.client.get<T>(path, query, stopped.signal);
      isReading = false;
      if (stopped.signal.aborted) return;
      setState((before) =>
        answer.ok
          ? { of, data: answer.value, error: undefined, isLoading: false }
          : { of, data: before.of === of ? before.data : undefined, error: answer.error, isLoading: false },
      );
      schedule(isWanted ? everyMs : Math.max(IDLE_MS, everyMs));
    };
    const schedule = (afterMs: number): void => {
      clearTimeout(timer);
      timer = setTimeout(tryToRead, Math.max(0, startedMs + afterMs - Date.now()));
    };
    const tryToRead = (): void => {
      if (document.hidden) return;
      void read();
    };
    const onChange = (change: Change): void => {
      if (change !== undefined && run !== undefined && change.run !== run) return;
      if (isReading) isWanted = true;
      else schedule(everyMs);
    };
    refreshNow.current = () => {
      if (isReading) isWanted = true;
      else schedule(0);
    };
    void read();
    const stopListening = app.onChange(onChange);
    return () => {
      stopListening();
      clearTimeout(timer);
      stopped.abort();
    };
  }, [url]);

  const isCurrent = state.of === of;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: isCurrent ? state.isLoading : true,
    refresh: () => refreshNow.current(),
  };
}
