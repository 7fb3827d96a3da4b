import { useEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { useApp } from "../app.ts";
import { formatClock, formatDuration } from "../format/times.ts";
import { hrefOf, type Route } from "../route/route.ts";
import { nextTheme, type ThemeChoice } from "../theme.ts";

const NAV = [
  ["runs", "Runs"],
  ["workers", "Workers"],
  ["scopes", "Scopes"],
  ["events", "Events"],
  ["health", "Health"],
] as const;

/** The frame around every page. */
export function Shell(props: { readonly page: Route["page"]; readonly children: ComponentChildren }) {
  const app = useApp();
  const main = useRef<HTMLElement>(null);
  const { location, session } = app;
  const tenant = location.value.query["tenant"];
  const section = props.page === "run" || props.page === "shard" ? "runs" : props.page;
  useFocusOnNavigation(main);
  return (
    <>
      <header class="top">
        <a
          class="skip"
          href={window.location.hash}
          onClick={(event) => {
            event.preventDefault();
            main.current?.focus();
          }}
        >
          Skip to the content
        </a>
        <div class="top-row">
          <a class="brand" href={hrefOf({ page: "runs" }, { tenant })}>
            <Mark /> Gossip
          </a>
          {session.value.state === "known" && (
            <nav class="nav" aria-label="Pages">
              {NAV.map(([page, name]) => (
                <a key={page} href={hrefOf({ page }, { tenant })} aria-current={page === section ? "page" : undefined}>
                  {name}
                </a>
              ))}
            </nav>
          )}
          <div class="top-end">
            {session.value.state === "known" && <Live />}
            {session.value.state === "known" && !session.value.me.canOperate && (
              <span class="muted nowrap hide-narrow">read-only</span>
            )}
            <ThemeButton />
            {app.hasToken && session.value.state === "known" && (
              <button type="button" class="button small" onClick={() => app.signOut()}>
                Sign out
              </button>
            )}
          </div>
        </div>
        <LostConnection />
      </header>
      <main ref={main} tabIndex={-1}>
        {props.children}
      </main>
      <div class="sr-only" aria-live="polite">
        {app.announcement.value}
      </div>
      <Toasts />
      {app.asked.value !== undefined && (
        <ActionDialog action={app.asked.value} onClose={(isDone) => app.answered(isDone)} />
      )}
    </>
  );
}

/** After a change of the page, the keyboard and the screen reader begin at its content. */
function useFocusOnNavigation(main: { readonly current: HTMLElement | null }): void {
  const { route } = useApp().location.value;
  const path = hrefOf(route);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [path]);
}

function Live() {
  const { state } = useApp().connection.value;
  const words = { connecting: "Connecting", live: "Live", lost: "Disconnected" }[state];
  return (
    <span class="live" data-state={state} role="status">
      {words}
    </span>
  );
}

function LostConnection() {
  const app = useApp();
  const connection = app.connection.value;
  if (connection.state !== "lost" || app.session.value.state !== "known") return null;
  const nowMs = app.nowMs.value;
  const waitMs = connection.nextTryMs - Date.now();
  return (
    <div class="banner wide" role="alert">
      <div class="text">
        <strong>Connection lost</strong> at {formatClock(connection.sinceMs, nowMs)}. What you see may be out of date.
        {waitMs > 1_000 && ` Trying again in ${formatDuration(waitMs)}.`}
      </div>
      <button type="button" class="button small" onClick={() => app.retryConnection()}>
        Try now
      </button>
    </div>
  );
}

function Toasts() {
  const app = useApp();
  return (
    <div class="toasts" role="status" aria-live="polite">
      {app.toasts.value.map(({ id, tone, text }) => (
        <div class="toast" data-tone={tone} key={id}>
          <span class="text">{text}</span>
          <button type="button" class="button small" onClick={() => app.dismiss(id)}>
            Close
          </button>
        </div>
      ))}
    </div>
  );
}

function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#0a78c2" />
      <path fill="#fff" d="M6 10h6v12H6zm7 0h5v7h-5zm6 0h7v10h-7z" />
    </svg>
  );
}

const THEME_NAMES: Readonly<Record<ThemeChoice, string>> = { system: "as the system", light: "light", dark: "dark" };

function ThemeButton() {
  const app = useApp();
  const choice = app.theme.value;
  return (
    <button
      type="button"
      class="theme"
      onClick={() => app.chooseTheme(nextTheme(choice))}
      aria-label={`Theme: ${THEME_NAMES[choice]}. Change it.`}
      title={`Theme: ${THEME_NAMES[choice]}`}
    >
      <svg
        width="18"
        height="18"
        viewBox="0 0 18 18"
        aria-hidden="true"
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
      >
        <circle cx="9" cy="9" r="6.5" />
        {choice === "system" && <path d="M9 2.5a6.5 6.5 0 0 1 0 13z" fill="currentColor" />}
        {choice === "dark" && <circle cx="9" cy="9" r="5.5" fill="currentColor" />}
      </svg>
    </button>
  );
}
