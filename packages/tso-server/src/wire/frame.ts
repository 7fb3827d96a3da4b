import { err, ok, type Result } from "@gossip/stdx";
import { WindowGrant, type Epoch } from "@gossip/tso";
import { MAX_ENDPOINT_SIZE, PeerEndpoint } from "../driver/peer-endpoint.ts";
import type { LeaderHint } from "../oracle/get-ts-error.ts";
import { EPOCH_SIZE, EpochMemo } from "./epoch-memo.ts";
import { MAX_TOKEN_SIZE } from "./token.ts";
import { STATUS_CODES, statusOfCode, type Status } from "./status.ts";

/*
 * The framed protocol, over TCP or a unix socket. All integers little endian.
 *
 *   client, once    "GTS1"
 *   token           length u32        | 02 | token, ASCII                             (first frame, if the client has one)
 *   request         length u32 = 9    | 01 | request id u32 | count u32
 *   granted         length u32 = 35   | 81 | request id u32 | physical ms u48 | logical start u32 | count u32 | epoch u128
 *   refused         length u32        | 82 | request id u32 | status u8 | flags u8
 *                                     | epoch u128, if flag 1 | size u16, endpoint, if flag 2 | size u16, reason
 *
 * `length` counts what follows it. Replies come in any order: the id says whose they are.
 */

/** The first bytes that a client sends. A connection that sends anything else, such as a web browser, is closed. */
export const PREFACE: Buffer = Buffer.from("GTS1", "latin1");

export const HEADER_SIZE = 4;
export const REQUEST_FRAME_SIZE = HEADER_SIZE + 9;
export const GRANTED_FRAME_SIZE = HEADER_SIZE + 35;

/** Most that a frame may hold after its header. */
export const MAX_FRAME_SIZE = 1024;

/** Longest reason that a refusal carries; more is cut off. */
export const MAX_REASON_SIZE = 256;

const REQUEST = 0x01;
const TOKEN = 0x02;
const GRANTED = 0x81;
const REFUSED = 0x82;
const HAS_EPOCH = 1;
const HAS_ENDPOINT = 2;

export interface Request {
  readonly requestId: number;
  readonly count: number;
}

/** A server's response to one request. */
export type Reply =
  | { readonly kind: "Granted"; readonly requestId: number; readonly grant: WindowGrant }
  | {
      readonly kind: "Refused";
      readonly requestId: number;
      readonly status: Status;
      readonly reason: string;
      readonly hint: LeaderHint | "malformed";
    };

/** Bytes that are no frame of this protocol. The connection cannot be used any more. */
export interface MalformedFrame {
  readonly kind: "MalformedFrame";
}

const MALFORMED = err<MalformedFrame>({ kind: "MalformedFrame" });

export function encodeRequest({ requestId, count }: Request): Buffer {
  const out = Buffer.allocUnsafe(REQUEST_FRAME_SIZE);
  out.writeUInt32LE(9, 0);
  out[4] = REQUEST;
  out.writeUInt32LE(requestId, 5);
  out.writeUInt32LE(count, 9);
  return out;
}

export function encodeToken(token: string): Buffer {
  const out = Buffer.alloc(HEADER_SIZE + 1 + token.length);
  out.writeUInt32LE(1 + token.length, 0);
  out[4] = TOKEN;
  out.write(token, 5, "latin1");
  return out;
}

/** The token in a frame, or `undefined` if it is a frame of another kind. */
export function decodeToken(frame: Buffer): Buffer | undefined {
  return frame[0] === TOKEN && frame.length <= 1 + MAX_TOKEN_SIZE ? frame.subarray(1) : undefined;
}

/** A request from what a header announced. */
export function decodeRequest(frame: Buffer): Result<Request, MalformedFrame> {
  if (frame.length !== 9 || frame[0] !== REQUEST) return MALFORMED;
  return ok({ requestId: frame.readUInt32LE(1), count: frame.readUInt32LE(5) });
}

/** Write a granted frame into `out` at `offset`, which has `GRANTED_FRAME_SIZE` bytes of room there. */
export function encodeGrantedInto(
  { requestId, grant }: { readonly requestId: number; readonly grant: WindowGrant },
  epochs: EpochMemo,
  offset: number,
  out: Buffer,
): void {
  out.writeUInt32LE(35, offset);
  out[offset + 4] = GRANTED;
  out.writeUInt32LE(requestId, offset + 5);
  out.writeUIntLE(grant.physicalMs, offset + 9, 6);
  out.writeUInt32LE(grant.logicalStart, offset + 15);
  out.writeUInt32LE(grant.count, offset + 19);
  epochs.encodeInto(grant.epoch, offset + 23, out);
}

export function encodeRefused(
  requestId: number,
  refusal: { readonly status: Status; readonly reason: string; readonly hint: LeaderHint },
): Buffer {
  const { leaderEndpoint, leaderEpoch } = refusal.hint;
  const endpoint = Buffer.from(leaderEndpoint ?? "", "utf8");
  const reason = Buffer.from(refusal.reason, "utf8").subarray(0, MAX_REASON_SIZE);
  const flags = (leaderEpoch === undefined ? 0 : HAS_EPOCH) | (leaderEndpoint === undefined ? 0 : HAS_ENDPOINT);
  const parts: Buffer[] = [Buffer.alloc(HEADER_SIZE + 7)];
  if (leaderEpoch !== undefined) parts.push(encodeEpoch(leaderEpoch));
  if (leaderEndpoint !== undefined) parts.push(sized(endpoint));
  parts.push(sized(reason));
  const out = Buffer.concat(parts);
  out.writeUInt32LE(out.length - HEADER_SIZE, 0);
  out[4] = REFUSED;
  out.writeUInt32LE(requestId, 5);
  out[9] = STATUS_CODES[refusal.status];
  out[10] = flags;
  return out;
}

/**
 * A reply from what a header announced. `epochs` is one for a connection.
 *
 * A hint that is no endpoint does not spoil the reply: it is reported as `malformed`, and the connection is good.
 */
export function decodeReply(frame: Buffer, epochs: EpochMemo): Result<Reply, MalformedFrame> {
  if (frame[0] === GRANTED) return decodeGranted(frame, epochs);
  if (frame[0] === REFUSED) return decodeRefused(frame, epochs);
  return MALFORMED;
}

function decodeGranted(frame: Buffer, epochs: EpochMemo): Result<Reply, MalformedFrame> {
  if (frame.length !== 35) return MALFORMED;
  const grant = WindowGrant.tryMake({
    physicalMs: frame.readUIntLE(5, 6),
    logicalStart: frame.readUInt32LE(11),
    count: frame.readUInt32LE(15),
    epoch: epochs.decode(frame, 19),
  });
  return grant.ok ? ok({ kind: "Granted", requestId: frame.readUInt32LE(1), grant: grant.value }) : MALFORMED;
}

function decodeRefused(frame: Buffer, epochs: EpochMemo): Result<Reply, MalformedFrame> {
  if (frame.length < 9) return MALFORMED;
  const requestId = frame.readUInt32LE(1);
  const status = statusOfCode(frame[5]!);
  const flags = frame[6]!;
  if (status === undefined || flags > (HAS_EPOCH | HAS_ENDPOINT)) return MALFORMED;
  let at = 7;
  let leaderEpoch: Epoch | undefined;
  if ((flags & HAS_EPOCH) !== 0) {
    if (frame.length < at + EPOCH_SIZE) return MALFORMED;
    leaderEpoch = epochs.decode(frame, at);
    at += EPOCH_SIZE;
  }
  let endpoint: string | undefined;
  if ((flags & HAS_ENDPOINT) !== 0) {
    const text = textAt(frame, at, MAX_ENDPOINT_SIZE);
    if (text === undefined) return MALFORMED;
    endpoint = text.text;
    at = text.end;
  }
  const reason = textAt(frame, at, MAX_REASON_SIZE);
  if (reason === undefined || reason.end !== frame.length) return MALFORMED;
  return ok({ kind: "Refused", requestId, status, reason: reason.text, hint: hintOf(endpoint, leaderEpoch) });
}

function hintOf(endpoint: string | undefined, leaderEpoch: Epoch | undefined): LeaderHint | "malformed" {
  const epochPart = leaderEpoch === undefined ? {} : { leaderEpoch };
  if (endpoint === undefined) return epochPart;
  const parsed = PeerEndpoint.parse(endpoint);
  return parsed.ok ? { leaderEndpoint: parsed.value, ...epochPart } : "malformed";
}

function textAt(
  frame: Buffer,
  at: number,
  maxSize: number,
): { readonly text: string; readonly end: number } | undefined {
  if (frame.length < at + 2) return undefined;
  const size = frame.readUInt16LE(at);
  const end = at + 2 + size;
  return size > maxSize || frame.length < end ? undefined : { text: frame.toString("utf8", at + 2, end), end };
}

function sized(text: Buffer): Buffer {
  const size = Buffer.allocUnsafe(2);
  size.writeUInt16LE(text.length, 0);
  return Buffer.concat([size, text]);
}

function encodeEpoch(epoch: Epoch): Buffer {
  const out = Buffer.allocUnsafe(EPOCH_SIZE);
  new EpochMemo().encodeInto(epoch, 0, out);
  return out;
}
