// With some of these values the driver throws in a callback, and the promise of a connection never settles: the command then ends with a code
// that means nothing. Others make it connect in a way that was not asked for.
import { afterEach, expect, test, vi } from "vitest";
import { findUrlFault } from "./connection-url.ts";

afterEach(() => vi.unstubAllEnvs());

test.each([
  ["", "Form"],
  ["x", "Form"],
  ["mysql://h/d", "Form"],
  ["postgres://h:99999/d", "Form"],
  ["postgres://u:p@h/d?port=x", "Port"],
  ["postgres://u:p@h/d?port=5432x", "Port"],
  ["postgres://u:p@h/d?port=-1", "Port"],
  ["postgres://u:p@h/d?port=1.5", "Port"],
  ["postgres://u:p@h/d?port=0", "Port"],
  ["postgres://u:p@h/d?port=70000", "Port"],
  ["postgres://h/d?sslmode=verify", "Ssl"],
  ["postgres://h/d?ssl=false", "Ssl"],
  ["postgres://h/d?sslnegotiation=none", "Setting"],
  ["postgres://h/d?sslcert=/nowhere/cert.pem", "Setting"],
  ["postgres://u:%C3%28@h/d", "Setting"],
  ["postgres://h/%C3%28", "Setting"],
] as const)("%s: %s", (url, part) => {
  expect(findUrlFault(url)).toBe(part);
});

test.each([
  "postgres://u:p@h:5433/d",
  "postgresql://h/d?port=65535",
  "postgres://u:p%40%2F@[::1]/d?sslmode=disable",
  "postgres:///d?host=/var/run/postgresql",
  "postgres://%2Fvar%2Frun/d",
  "postgres://h/d?ssl=0&application_name=x",
  "postgres://h",
])("%s can be used", (url) => {
  expect(findUrlFault(url)).toBeUndefined();
});

test("a port of the environment counts where the URL has none", () => {
  vi.stubEnv("PGPORT", "x");
  expect(findUrlFault("postgres://h/d")).toBe("Port");
  expect(findUrlFault("postgres://h:5432/d")).toBeUndefined();
});
