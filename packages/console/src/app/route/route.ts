// What the address of the page shows. A route is the part of the address after `#`, so that the files can be served
// below any path and a reload shows the same thing.

export type Route =
  | { readonly page: "runs" }
  | { readonly page: "run"; readonly run: string }
  | { readonly page: "shard"; readonly run: string; readonly shard: string }
  | { readonly page: "workers" }
  | { readonly page: "scopes" }
  | { readonly page: "events" }
  | { readonly page: "health" }
  | { readonly page: "unknown"; readonly path: string };

export interface Location {
  readonly route: Route;
  readonly query: Readonly<Record<string, string>>;
}

const ID = "[0-9a-f]{16}";
const PATHS: readonly (readonly [RegExp, (parts: readonly string[]) => Route])[] = [
  [/^\/?(?:runs)?$/, () => ({ page: "runs" })],
  [new RegExp(`^/runs/(${ID})$`), ([run]) => ({ page: "run", run: run! })],
  [new RegExp(`^/runs/(${ID})/shards/(${ID})$`), ([run, shard]) => ({ page: "shard", run: run!, shard: shard! })],
  [/^\/workers$/, () => ({ page: "workers" })],
  [/^\/scopes$/, () => ({ page: "scopes" })],
  [/^\/events$/, () => ({ page: "events" })],
  [/^\/health$/, () => ({ page: "health" })],
];

/** Reads `location.hash`. Never throws: an address may be typed by hand. */
export function parseHash(hash: string): Location {
  const text = hash.replace(/^#/, "");
  const queryAt = text.indexOf("?");
  const path = queryAt === -1 ? text : text.slice(0, queryAt);
  const query = queryAt === -1 ? {} : Object.fromEntries(new URLSearchParams(text.slice(queryAt)));
  for (const [pattern, routeOf] of PATHS) {
    const found = pattern.exec(path);
    if (found !== null) return { route: routeOf(found.slice(1)), query };
  }
  return { route: { page: "unknown", path }, query };
}

/** The address of a route, as `href`. Empty values of the query are left out. */
export function hrefOf(route: Route, query: Readonly<Record<string, string | undefined>> = {}): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  const text = new URLSearchParams(set).toString();
  return `#${pathOf(route)}${text === "" ? "" : `?${text}`}`;
}

function pathOf(route: Route): string {
  switch (route.page) {
    case "run":
      return `/runs/${route.run}`;
    case "shard":
      return `/runs/${route.run}/shards/${route.shard}`;
    case "unknown":
      return route.path;
    case "runs":
    case "workers":
    case "scopes":
    case "events":
    case "health":
      return `/${route.page}`;
  }
}
