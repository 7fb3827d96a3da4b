// A link that does not lead back to what it was made for shows an operator another run than the one they chose.
import { expect, test } from "vitest";
import { hrefOf, parseHash, type Route } from "./route.ts";

const run = "00000000000000aa";
const ROUTES: readonly Route[] = [
  { page: "runs" },
  { page: "run", run },
  { page: "shard", run, shard: "800000000000000b" },
  { page: "workers" },
  { page: "scopes" },
  { page: "events" },
  { page: "health" },
];

test.each(ROUTES)("$page: the address leads back to the route", (route) => {
  const query = { tenant: "00ff", text: "a b&c=d#e" };
  expect(parseHash(hrefOf(route, query))).toEqual({ route, query });
});

test("no address is the list of runs", () => {
  for (const hash of ["", "#", "#/", "#/runs"]) expect(parseHash(hash).route).toEqual({ page: "runs" });
});

test.each(["#/runs/xyz", "#/runs/00000000000000AA", "#/%", "#/runs/00000000000000aa/shards", "#nothing"])(
  "%s is unknown",
  (hash) => {
    expect(parseHash(hash).route.page).toBe("unknown");
  },
);

test("empty values are left out of the address", () => {
  expect(hrefOf({ page: "runs" }, { text: "", state: undefined })).toBe("#/runs");
});
