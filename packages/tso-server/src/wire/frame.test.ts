// Both ends decode bytes from the network. Bytes that are mistaken for a grant become a caller's
// timestamp; a decoder that throws takes every other connection of the process with it.
import { unwrap } from "@gossip/stdx";
import { Epoch, EPOCH_MAX, MAX_GRANT_COUNT, PHYSICAL_MS_MAX, WindowGrant } from "@gossip/tso";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { EpochMemo } from "./epoch-memo.ts";
import { FrameReader } from "./frame-reader.ts";
import {
  decodeReply,
  decodeRequest,
  encodeGrantedInto,
  encodeRefused,
  encodeRequest,
  GRANTED_FRAME_SIZE,
  HEADER_SIZE,
  MAX_FRAME_SIZE,
  MAX_REASON_SIZE,
  type Reply,
} from "./frame.ts";
import { STATUS_CODES, type Status } from "./status.ts";

const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const epoch = fc.bigInt({ min: 0n, max: EPOCH_MAX }).map((raw) => Epoch.fromRaw(raw));
const grant = fc
  .record({
    physicalMs: fc.oneof(fc.integer({ min: 0, max: PHYSICAL_MS_MAX }), fc.constant(PHYSICAL_MS_MAX)),
    logicalStart: fc.integer({ min: 0, max: MAX_GRANT_COUNT - 1 }),
    epoch,
  })
  .chain((parts) =>
    fc
      .integer({ min: 1, max: MAX_GRANT_COUNT - parts.logicalStart })
      .map((count) => unwrap(WindowGrant.tryMake({ ...parts, count }))),
  );
const endpoint = fc
  .constantFrom("a:1", "[::1]:50551", `${"h".repeat(253)}:65535`)
  .map((text) => unwrap(PeerEndpoint.parse(text)));
const refusal = fc.record({
  status: fc.constantFrom(...(Object.keys(STATUS_CODES) as Status[])),
  reason: fc.string({ maxLength: 60 }),
  hint: fc.record({ leaderEndpoint: endpoint, leaderEpoch: epoch }, { requiredKeys: [] }),
});

// One for all: whatever it remembers from one frame must not show in another.
const epochs = new EpochMemo();

function granted(requestId: number, given: WindowGrant): Buffer {
  const out = Buffer.alloc(GRANTED_FRAME_SIZE);
  encodeGrantedInto({ requestId, grant: given }, epochs, 0, out);
  return out;
}

/** The frame without its header, as a reader hands it on. */
function framed(bytes: Buffer): Buffer {
  let found: Buffer | undefined;
  expect(new FrameReader().push(bytes, (frame) => ((found = Buffer.from(frame)), true))).toBe(true);
  expect(found).toBeDefined();
  return found!;
}

describe("frames", () => {
  test("a request comes back", () => {
    fc.assert(
      fc.property(u32, u32, (requestId, count) => {
        expect(decodeRequest(framed(encodeRequest({ requestId, count })))).toEqual({
          ok: true,
          value: { requestId, count },
        });
      }),
    );
  });

  test("a granted reply comes back", () => {
    fc.assert(
      fc.property(u32, grant, (requestId, given) => {
        expect(decodeReply(framed(granted(requestId, given)), epochs)).toEqual({
          ok: true,
          value: { kind: "Granted", requestId, grant: given },
        });
      }),
    );
  });

  test("a refusal comes back, hint and all", () => {
    fc.assert(
      fc.property(u32, refusal, (requestId, given) => {
        expect(decodeReply(framed(encodeRefused(requestId, given)), epochs)).toEqual({
          ok: true,
          value: { kind: "Refused", requestId, ...given },
        });
      }),
    );
  });

  test("the layout is the documented one", () => {
    expect(encodeRequest({ requestId: 0x01020304, count: 5 }).toString("hex")).toBe(
      "0900000001" + "04030201" + "05000000",
    );
    const bytes = granted(7, {
      physicalMs: 0x0a0b0c0d0e0f,
      logicalStart: 1,
      count: 2,
      epoch: Epoch.fromRaw((3n << 64n) | 4n),
    });
    expect(bytes.toString("hex")).toBe(
      "2300000081" + "07000000" + "0f0e0d0c0b0a" + "01000000" + "02000000" + "0400000000000000" + "0300000000000000",
    );
    expect(
      encodeRefused(7, {
        status: "NotLeader",
        reason: "no",
        hint: { leaderEndpoint: unwrap(PeerEndpoint.parse("a:1")) },
      }).toString("hex"),
    ).toBe("1000000082" + "07000000" + "0102" + "0300613a31" + "02006e6f");
  });

  test("a long reason is cut, and the largest refusal fits a frame", () => {
    const given = {
      status: "Internal",
      reason: "x".repeat(5000),
      hint: { leaderEndpoint: unwrap(PeerEndpoint.parse(`${"h".repeat(260)}:1`)), leaderEpoch: Epoch.MAX },
    } as const;
    const frame = framed(encodeRefused(1, given));
    expect(frame.length).toBeLessThanOrEqual(MAX_FRAME_SIZE);
    expect(decodeReply(frame, epochs)).toMatchObject({ ok: true, value: { reason: "x".repeat(MAX_REASON_SIZE) } });
  });

  test("a hint that is no endpoint is reported and spoils nothing else", () => {
    const frame = framed(
      encodeRefused(7, { status: "NotLeader", reason: "", hint: { leaderEndpoint: "http://a:1" as PeerEndpoint } }),
    );
    expect(decodeReply(frame, epochs)).toEqual({
      ok: true,
      value: { kind: "Refused", requestId: 7, status: "NotLeader", reason: "", hint: "malformed" },
    });
  });

  test("cut short at any byte, a reply is malformed", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          grant.map((given) => granted(1, given)),
          refusal.map((given) => encodeRefused(1, given)),
        ),
        (bytes) => {
          const whole = framed(bytes);
          for (let size = 0; size < whole.length; size++)
            expect(decodeReply(whole.subarray(0, size), epochs)).toEqual({
              ok: false,
              error: { kind: "MalformedFrame" },
            });
        },
      ),
    );
  });

  test("any bytes are a frame or malformed, and never throw", () => {
    const bytes = fc
      .uint8Array({ maxLength: 60 })
      .chain((raw) => fc.constantFrom(0x01, 0x81, 0x82, 0x00).map((kind) => Buffer.from([kind, ...raw])));
    fc.assert(
      fc.property(bytes, (frame) => {
        const reply = decodeReply(frame, epochs);
        if (reply.ok && reply.value.kind === "Granted") expect(WindowGrant.tryMake(reply.value.grant).ok).toBe(true);
        expect(typeof decodeRequest(frame).ok).toBe("boolean");
      }),
      { numRuns: 500 },
    );
  });
});

describe("FrameReader", () => {
  test("finds the same frames however the stream is cut", () => {
    const stream = fc.array(
      fc.oneof(
        grant.map((given) => granted(1, given)),
        refusal.map((given) => encodeRefused(2, given)),
      ),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(
        stream,
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 50 }),
        (frames, cuts) => {
          const bytes = Buffer.concat(frames);
          const reader = new FrameReader();
          const found: Reply[] = [];
          for (let at = 0, cut = 0; at < bytes.length; cut++) {
            const size = cuts[cut % cuts.length]!;
            expect(
              reader.push(
                bytes.subarray(at, at + size),
                (frame) => (found.push(unwrap(decodeReply(frame, epochs))), true),
              ),
            ).toBe(true);
            at += size;
          }
          expect(found).toEqual(frames.map((frame) => unwrap(decodeReply(frame.subarray(HEADER_SIZE), epochs))));
        },
      ),
    );
  });

  test.each([0, MAX_FRAME_SIZE + 1, 2 ** 32 - 1])("gives up on a header that announces %d bytes", (size) => {
    const header = Buffer.alloc(4);
    header.writeUInt32LE(size, 0);
    expect(new FrameReader().push(header, () => true)).toBe(false);
  });
});
