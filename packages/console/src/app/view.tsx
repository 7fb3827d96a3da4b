import { useEffect } from "preact/hooks";
import { useApp } from "./app.ts";
import { EventsPage } from "./pages/events-page.tsx";
import { HealthPage } from "./pages/health-page.tsx";
import { RunPage } from "./pages/run-page.tsx";
import { RunsPage } from "./pages/runs-page.tsx";
import { ScopesPage } from "./pages/scopes-page.tsx";
import { ShardPage } from "./pages/shard-page.tsx";
import { WorkersPage } from "./pages/workers-page.tsx";
import { ErrorBanner } from "./parts/parts.tsx";
import { Shell } from "./parts/shell.tsx";
import { SignIn } from "./parts/sign-in.tsx";
import { hrefOf, type Route } from "./route/route.ts";

/** The page that the address asks for, in its frame. */
export function View() {
  const app = useApp();
  const { route } = app.location.value;
  useTheme();
  useEffect(() => void (document.title = `${TITLES[route.page]} · Gossip`), [route.page]);
  return (
    <Shell page={route.page}>
      <Content route={route} />
    </Shell>
  );
}

function Content({ route }: { readonly route: Route }) {
  const session = useApp().session.value;
  switch (session.state) {
    case "starting":
      return <h1 class="muted">Loading …</h1>;
    case "signedOut":
      return <SignIn why={session.why} />;
    case "failed":
      return (
        <>
          <h1>Gossip</h1>
          <ErrorBanner what="The console cannot start" error={session.error} />
        </>
      );
    case "known":
      return <Page route={route} />;
  }
}

function Page({ route }: { readonly route: Route }) {
  switch (route.page) {
    case "runs":
      return <RunsPage />;
    case "run":
      return <RunPage key={route.run} run={route.run} />;
    case "shard":
      return <ShardPage key={route.shard} run={route.run} shard={route.shard} />;
    case "workers":
      return <WorkersPage />;
    case "scopes":
      return <ScopesPage />;
    case "events":
      return <EventsPage />;
    case "health":
      return <HealthPage />;
    case "unknown":
      return (
        <>
          <h1>There is no such page</h1>
          <p>
            <a href={hrefOf({ page: "runs" })}>Show all runs</a>
          </p>
        </>
      );
  }
}

const TITLES: Readonly<Record<Route["page"], string>> = {
  runs: "Runs",
  run: "Run",
  shard: "Shard",
  workers: "Workers",
  scopes: "Scopes",
  events: "Events",
  health: "Health",
  unknown: "Not found",
};

/** Puts the theme on the document, where the style sheet looks for it. */
function useTheme(): void {
  const choice = useApp().theme.value;
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const apply = (): void => {
      const isDark = choice === "dark" || (choice === "system" && system.matches);
      document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
    };
    apply();
    system.addEventListener("change", apply);
    return () => system.removeEventListener("change", apply);
  }, [choice]);
}
