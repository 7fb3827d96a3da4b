import { Client } from "pg";

/**
 * The part of a connection URL that cannot be used.
 *
 * - `Form`    — it is not a URL of the form `postgres://user:password@host:port/database`.
 * - `Port`    — `?port=`, or `PGPORT` where the URL has none, is not a number from 1 to 65,535.
 * - `Ssl`     — `?sslmode=` or `?ssl=` has a value that does not exist. The driver would turn TLS on, whatever was meant.
 * - `Setting` — anything else the driver refuses: a percent sign that encodes nothing, a certificate file that cannot be read.
 */
export type UrlPart = "Form" | "Port" | "Ssl" | "Setting";

const SSL_MODES: ReadonlySet<string> = new Set([
  "disable",
  "prefer",
  "require",
  "verify-ca",
  "verify-full",
  "no-verify",
]);
const SSL_VALUES: ReadonlySet<string> = new Set(["true", "1", "0", "no-verify"]);
const MAX_PORT = 65_535;

/**
 * Returns what is wrong with a connection URL; `undefined` if nothing is.
 *
 * With some of these values the driver throws where nothing catches it, and its `connect` then never settles.
 */
export function findUrlFault(text: string): UrlPart | undefined {
  const url = postgresUrl(text);
  if (url === undefined) return "Form";
  const { searchParams } = url;
  const [port, sslMode, ssl] = ["port", "sslmode", "ssl"].map((name) => searchParams.get(name) ?? "");
  if (port !== "" && !/^\d{1,5}$/.test(port!)) return "Port";
  if (sslMode !== "" && !SSL_MODES.has(sslMode!)) return "Ssl";
  if (ssl !== "" && !SSL_VALUES.has(ssl!)) return "Ssl";
  try {
    // It connects to nothing, and reads the environment as the connections will.
    const client = new Client({ connectionString: text });
    return client.port >= 1 && client.port <= MAX_PORT ? undefined : "Port";
  } catch {
    return "Setting";
  }
}

function postgresUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === "postgres:" || url.protocol === "postgresql:" ? url : undefined;
}
