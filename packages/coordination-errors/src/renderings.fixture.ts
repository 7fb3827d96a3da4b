import { Console } from "node:console";
import { Writable } from "node:stream";
import { format, inspect } from "node:util";
import { err } from "@gossip/stdx";
import { OPERATIONS } from "./error-routes.ts";
import { messageOf } from "./message-of.ts";
import type { AnyCoordError } from "./operation-errors.ts";

/** Every text that the usual ways of printing make of an error as it is. */
export function ownRenderings(error: AnyCoordError): readonly string[] {
  const failed = new Error(`checkpoint failed: ${error.message}`, { cause: error });
  const chain = new Error("outer", { cause: new Error("inner", { cause: error }) });
  const buried = {
    list: [{ deep: { deeper: { deepest: error } } }],
    map: new Map([["error", error]]),
    set: new Set([error]),
  };
  const holders: readonly unknown[] = [
    error,
    err(error),
    [error],
    buried,
    chain,
    failed,
    new AggregateError([error, failed], "several"),
  ];

  return [
    error.message,
    String(error),
    // oxlint-disable-next-line typescript/restrict-template-expressions -- this is how people print
    `${error}`,
    (error as unknown as string) + "",
    ...OPERATIONS.map((operation) => messageOf(error, operation)),
    failed.message,
    failed.stack ?? "",
    String(failed),
    ...holders.flatMap((holder) => [
      toJson(holder),
      ...inspections(holder),
      ...logs(holder),
      format("%s %o %O %j", holder, holder, holder, holder),
    ]),
  ];
}

/** Every text made of what is left when an error has lost its methods, or when they are passed over. */
export function bareRenderings(error: AnyCoordError): readonly string[] {
  const bare: readonly unknown[] = [
    structuredClone(error),
    { ...error },
    Object.assign({}, error),
    Object.fromEntries(Object.entries(error)),
    Object.values(error).map(String),
  ];
  return [
    ...bare.flatMap((value) => [toJson(value), ...inspections(value), ...logs(value)]),
    ...[...bare, error].map((value) => inspect(value, { customInspect: false, showHidden: true, depth: Infinity })),
    // Both of these look at the fields by themselves.
    ...captured((log) => log.table([error])),
    ...captured((log) => log.dir(error, { depth: Infinity })),
  ];
}

/** JSON as a logger writes it that has met a bigint before. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) => (typeof field === "bigint" ? String(field) : field)) ?? "";
}

function inspections(value: unknown): readonly string[] {
  return [
    ...[0, 2, Infinity].map((depth) => inspect(value, { depth })),
    inspect(value, { showHidden: true, getters: true, depth: Infinity, compact: false }),
  ];
}

function logs(value: unknown): readonly string[] {
  return captured((log) => {
    log.log(value);
    log.log("%s", value);
    log.error("it failed:", value);
  });
}

/** What a console writes. */
function captured(use: (log: Console) => void): readonly string[] {
  const written: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  use(new Console({ stdout: stream, stderr: stream }));
  return written;
}

/** The ways in which bytes could be found in a text. */
export function encodingsOf(bytes: Uint8Array): readonly string[] {
  const buffer = Buffer.from(bytes);
  const hex = buffer.toString("hex");
  return [
    buffer.toString("utf8"),
    hex,
    hex.toUpperCase(),
    hex.match(/../g)!.join(" "),
    // Base64 of the bytes inside a longer text would start anywhere: leave out what the neighbors change.
    buffer.toString("base64").replace(/=+$/, "").slice(0, -1),
    buffer.toString("base64url").slice(0, -1),
    bytes.join(","),
    bytes.join(", "),
  ];
}

/** The ways in which a 64-bit integer could be found in a text. */
export function encodingsOfU64(value: bigint): readonly string[] {
  const big = Buffer.alloc(8);
  big.writeBigUInt64BE(value);
  const little = Buffer.from(big).reverse();
  return [
    String(value),
    value.toString(16),
    value.toString(16).toUpperCase(),
    ...encodingsOf(big).slice(1),
    ...encodingsOf(little).slice(1),
  ];
}
