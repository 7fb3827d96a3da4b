import { FenceEpoch, RunId, ShardId } from "@gossip/contracts";
import { crc32 } from "node:zlib";
import type { PartName, PartToken } from "./part-token.ts";

/** The first line of a part: its shard and lease, and where the earlier results are. */
export interface PartHeader {
  readonly run: RunId;
  readonly part: PartName;
  readonly previous: PartToken | undefined;
}

/** Longer than any header. */
export const MAX_HEADER_SIZE = 512;

export function headerLine({ run, part, previous }: PartHeader): string {
  const header = {
    gossip: "ndjson part",
    version: 2,
    run: RunId.format(run),
    ...nameJson(part),
    previous: previous === undefined ? null : previousJson(previous),
  };
  return `${JSON.stringify({ ...header, crc: crc32(JSON.stringify(header)) })}\n`;
}

/** Parse the header of a part. Returns `undefined` if the bytes do not start with one. */
export function parseHeader(bytes: Buffer): { readonly header: PartHeader; readonly size: number } | undefined {
  const lineEnd = bytes.indexOf("\n");
  if (lineEnd === -1) return undefined;
  try {
    const json = JSON.parse(bytes.toString("utf8", 0, lineEnd)) as Record<string, unknown>;
    if (json["gossip"] !== "ndjson part" || !isIntact(json)) return undefined;
    const run = RunId.fromRaw(hex(json["run"]));
    const previous = json["previous"] === null ? undefined : parsePrevious(json["previous"] as Record<string, unknown>);
    return { header: { run, part: parseName(json), previous }, size: lineEnd + 1 };
  } catch {
    return undefined;
  }
}

export function partFileName({ shard, fence, attempt }: PartName): string {
  return `${ShardId.format(shard)}-${FenceEpoch.format(fence)}-${attempt}.ndjson`;
}

export function isSamePart(a: PartName, b: PartName): boolean {
  return a.shard === b.shard && a.fence === b.fence && a.attempt === b.attempt;
}

function nameJson({ shard, fence, attempt }: PartName): object {
  return { shard: ShardId.format(shard), fence: FenceEpoch.format(fence), attempt };
}

function parseName(json: Record<string, unknown>): PartName {
  return {
    shard: ShardId.fromRaw(hex(json["shard"])),
    fence: FenceEpoch.fromRaw(hex(json["fence"])),
    attempt: count(json["attempt"]),
  };
}

function previousJson({ part, size, total, crc }: PartToken): object {
  return { ...nameJson(part), size, total, ...(crc === undefined ? {} : { crc }) };
}

function parsePrevious(json: Record<string, unknown>): PartToken {
  const crc = json["crc"] === undefined ? undefined : count(json["crc"]);
  return { part: parseName(json), size: count(json["size"]), total: count(json["total"]), crc };
}

/** Headers of version 1 have no checksum. */
function isIntact({ crc, ...header }: Record<string, unknown>): boolean {
  if (header["version"] === 1) return crc === undefined;
  return header["version"] === 2 && crc === crc32(JSON.stringify(header));
}

function hex(value: unknown): bigint {
  if (typeof value !== "string" || !/^[0-9a-f]{16}$/.test(value)) throw new RangeError("not 16 hex digits");
  return BigInt(`0x${value}`);
}

function count(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new RangeError("not a count");
  return value as number;
}
