// The sink on a real disk, and what it says when something is wrong. That nothing is lost or doubled by a crash is tried in crash.test.ts.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cursor, FenceEpoch, OpId, RunId, ShardId, TenantId, WorkerId, type ShardSpec } from "@gossip/contracts";
import { Coordinator, MemoryStore, RANGE_EXHAUSTED, type WorkerSession } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { planHintedSplitReplace, planHintedSplitResidual, rangeShard } from "@gossip/frontier";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SinkRequest } from "../sink.ts";
import type { Item } from "../../sources/source.ts";
import { sinkTokens } from "../sink-tokens.ts";
import { assembleNdjson, assembleWith, verifyNdjson } from "./assemble-ndjson.ts";
import { CrashingFiles, systemError } from "./crashing-files.fixture.ts";
import { ndjsonSink, NdjsonSink } from "./ndjson-sink.ts";
import type { PartFiles } from "./part-files.ts";
import { decodeToken, encodeToken } from "./part-token.ts";

const run = RunId.fromRaw(5n);
const item = (text: string): Item => ({ key: new TextEncoder().encode(text) });
const request = (fence: bigint, token?: Uint8Array, shard = 1n): SinkRequest => ({
  shard: { run, shard: ShardId.fromRaw(shard) },
  fence: FenceEpoch.fromRaw(fence),
  token,
});

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-sink-"));
  path = join(folder, "out.ndjson");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** One lease that writes these results and is over. */
async function write(results: readonly unknown[], at: SinkRequest): Promise<Uint8Array> {
  const sink = await ndjsonSink({ path }).open(at);
  for (const result of results) sink.write(item("k"), result);
  const token = await sink.flush();
  await sink.close();
  return token;
}

const assemble = (...tokens: readonly (Uint8Array | undefined)[]) => assembleNdjson({ path, run, tokens });
const partNames = () => (existsSync(`${path}.parts`) ? readdirSync(join(`${path}.parts`, RunId.format(run))) : []);

describe("results on a disk", () => {
  test("of several leases and shards become one file, and nothing else is left", async () => {
    const first = await write([{ a: 1 }, "zwei\n"], request(1n));
    const second = await write([3], request(2n, first));
    const other = await write([null], request(1n, undefined, 9n));
    expect(partNames().length).toBe(3);
    expect(await assemble(second, undefined, other)).toEqual({ ok: true, value: { size: 24 } });
    expect(readFileSync(path, "utf8")).toBe('{"a":1}\n"zwei\\n"\n3\nnull\n');
    expect(readdirSync(folder)).toEqual(["out.ndjson"]);
    // Once more, for a caller whose first answer was lost.
    expect(await assemble(second, undefined, other)).toEqual({ ok: true, value: { size: 24 } });
  });

  test("count up to the token, whatever was written behind it", async () => {
    const sink = await ndjsonSink({ path }).open(request(1n));
    sink.write(item("a"), 1);
    const token = await sink.flush();
    sink.write(item("b"), 2);
    await sink.flush();
    await sink.close();
    unwrap(await assemble(token));
    expect(readFileSync(path, "utf8")).toBe("1\n");
  });

  test("count as far as a flush was asked for, also where the next one was asked for before it was done", async () => {
    for (const last of [0, 1, 2]) {
      const sink = await ndjsonSink({ path }).open(request(BigInt(last + 1)));
      const flushes = [1, 2, 3].map((result) => {
        sink.write(item("a"), result);
        return sink.flush();
      });
      const tokens = await Promise.all(flushes);
      await sink.close();
      unwrap(await assemble(tokens[last]));
      expect(readFileSync(path, "utf8")).toBe("1\n2\n3\n".slice(0, 2 * last + 2));
    }
  });

  test("are none where nothing was written: no part is made, and the file is empty", async () => {
    const token = await write([], request(1n));
    expect(await write([undefined], request(2n, token))).toEqual(token);
    expect(existsSync(`${path}.parts`)).toBe(false);
    expect(await assemble(token, undefined)).toEqual({ ok: true, value: { size: 0 } });
    expect(readFileSync(path, "utf8")).toBe("");
    expect(readdirSync(folder)).toEqual(["out.ndjson"]);
  });

  test("of a lease that only looked on are those of the lease before", async () => {
    const token = await write([1], request(1n));
    expect(await write([], request(2n, token))).toEqual(token);
  });

  test("go to a part of their own where a lease opens twice", async () => {
    const first = await write([1], request(1n));
    const second = await write([2], request(1n, first));
    expect(partNames().length).toBe(2);
    unwrap(await assemble(second));
    expect(readFileSync(path, "utf8")).toBe("1\n2\n");
  });

  test("are what toRecord makes of them", async () => {
    const sink = await ndjsonSink<Item, number>({
      path,
      toRecord: ({ key }, result) => ({ key: Buffer.from(key).toString(), result }),
    }).open(request(1n));
    sink.write(item("k1"), 7);
    const token = await sink.flush();
    await sink.close();
    unwrap(await assemble(token));
    expect(readFileSync(path, "utf8")).toBe('{"key":"k1","result":7}\n');
  });

  test("are larger than what is copied at a time", async () => {
    const results = Array.from({ length: 300 }, (_, index) => String(index).repeat(5000));
    const token = await write(results, request(1n));
    unwrap(await assemble(token));
    expect(readFileSync(path, "utf8")).toBe(results.map((result) => `"${result}"\n`).join(""));
  });

  test("replace an older file only when they are whole", async () => {
    writeFileSync(path, "old");
    const token = await write([1], request(1n));
    rmSync(join(`${path}.parts`, RunId.format(run), partNames()[0]!));
    expect(await assemble(token)).toMatchObject({ ok: false, error: { kind: "PartMissing" } });
    expect(readFileSync(path, "utf8")).toBe("old");
  });

  test("fit a small token, however often a shard changes hands", async () => {
    let token: Uint8Array | undefined;
    for (let fence = 1n; fence <= 30n; fence++) token = await write([Number(fence)], request(fence, token));
    expect(token!.length).toBeLessThan(64);
    unwrap(await assemble(token));
    expect(readFileSync(path, "utf8").split("\n").length).toBe(31);
  });
});

describe("a sink that cannot go on says why", () => {
  test("where results that count are missing, cut off, or of another run", async () => {
    const token = await write([1, 2], request(1n));
    const part = join(`${path}.parts`, RunId.format(run), partNames()[0]!);
    const elsewhere = { ...request(2n, token), shard: { run: RunId.fromRaw(6n), shard: ShardId.fromRaw(1n) } };
    await expect(ndjsonSink({ path }).open(elsewhere)).rejects.toMatchObject({
      name: "SinkFailed",
      kind: "PartMissing",
    });
    mkdirSync(join(`${path}.parts`, RunId.format(RunId.fromRaw(6n))));
    writeFileSync(part.replace("0005", "0006"), readFileSync(part));
    await expect(ndjsonSink({ path }).open(elsewhere)).rejects.toMatchObject({ kind: "PartMissing" });
    const whole = readFileSync(part);
    writeFileSync(part, Buffer.concat([whole.subarray(0, -1), Buffer.from("x")]));
    await expect(ndjsonSink({ path }).open(request(2n, token))).rejects.toMatchObject({ kind: "PartDamaged" });
    truncateSync(part, whole.length - 1);
    await expect(ndjsonSink({ path }).open(request(2n, token))).rejects.toMatchObject({ kind: "PartMissing" });
    expect(await assemble(token)).toMatchObject({ error: { kind: "PartMissing" } });
  });

  test("where a token is not its own", async () => {
    const own = await write([1], request(1n));
    for (const token of [new Uint8Array(0), Uint8Array.of(9), new Uint8Array(37), own.slice(0, -1)]) {
      await expect(ndjsonSink({ path }).open(request(1n, token))).rejects.toMatchObject({ kind: "TokenInvalid" });
      expect(await assemble(token)).toMatchObject({ error: { kind: "TokenInvalid" } });
    }
    const wrongTotal = own.slice();
    wrongTotal[36]! += 1;
    await expect(ndjsonSink({ path }).open(request(1n, wrongTotal))).rejects.toMatchObject({ kind: "PartMissing" });
  });

  test("where a result is no JSON", async () => {
    const sink = await ndjsonSink({ path }).open(request(1n));
    expect(() => sink.write(item("a"), 1n)).toThrow(expect.objectContaining({ kind: "NotJson" }));
    await sink.close();
    expect(() => sink.write(item("a"), 1)).toThrow(InvariantViolation);
    expect(() => sink.flush()).toThrow(InvariantViolation);
  });

  test("where the folder cannot be made", async () => {
    writeFileSync(`${path}.parts`, "");
    const sink = await ndjsonSink({ path }).open(request(1n));
    sink.write(item("a"), 1);
    await expect(sink.flush()).rejects.toMatchObject({ kind: "Unwritable" });
    await sink.close();
  });

  test.each([undefined, {}, { path: "" }, { path: "x", toRecord: 1 }])(
    "options %o are refused with a sentence",
    (options) => {
      expect(() => ndjsonSink(options as never)).toThrow(InvariantViolation);
    },
  );
});

describe("results that are not those that were written", () => {
  const partPath = (name: string): string => join(`${path}.parts`, RunId.format(run), name);

  test("are never assembled, whichever byte of a part is another, and the damaged part is named", async () => {
    const first = await write(["one", { two: 2 }], request(1n));
    const last = await write(["three"], request(2n, first));
    const [older, newer] = partNames().sort() as [string, string];
    for (const name of [older, newer]) {
      const whole = readFileSync(partPath(name));
      for (let place = 0; place < whole.length; place++) {
        const flipped = Buffer.from(whole);
        flipped[place]! ^= 1 << (place % 8);
        writeFileSync(partPath(name), flipped);
        const assembled = await assemble(last);
        expect(assembled).toMatchObject({ ok: false, error: { reason: expect.stringContaining(name) as string } });
      }
      writeFileSync(partPath(name), whole);
    }
    expect(existsSync(path)).toBe(false);
    unwrap(await assemble(last));
    expect(readFileSync(path, "utf8")).toBe('"one"\n{"two":2}\n"three"\n');
  });

  test("are not taken for results of this run, though an older file has their size", async () => {
    const lost = await write(["new"], request(1n));
    const kept = await write(["also"], request(1n, undefined, 2n));
    const [missing, left] = partNames().sort() as [string, string];
    rmSync(partPath(missing));
    writeFileSync(path, '"old"\n"ALSO"\n');
    expect(await assemble(lost, kept)).toMatchObject({
      ok: false,
      error: { kind: "PartMissing", reason: expect.stringContaining(missing) as string },
    });
    expect(partNames()).toContain(left);
    expect(readFileSync(path, "utf8")).toBe('"old"\n"ALSO"\n');
    // The right bytes are another matter: then they were assembled before.
    writeFileSync(path, '"new"\n"also"\n');
    expect(await assemble(lost, kept)).toMatchObject({ ok: true });
    expect(partNames()).toEqual([]);
  });

  test("are found in an assembled file that was cut, extended, changed or removed", async () => {
    const tokens = [await write(["one"], request(1n)), undefined, await write(["two"], request(1n, undefined, 2n))];
    unwrap(await assemble(...tokens));
    const whole = readFileSync(path);
    const verify = () => verifyNdjson({ path, run, tokens });
    expect(await verify()).toEqual({ ok: true, value: { size: 12 } });
    for (let place = 0; place < whole.length; place++) {
      const flipped = Buffer.from(whole);
      flipped[place]! ^= 1;
      for (const bytes of [flipped, whole.subarray(0, place), Buffer.concat([whole, whole.subarray(0, place + 1)])]) {
        writeFileSync(path, bytes);
        expect(await verify()).toMatchObject({
          error: { kind: "ResultsDamaged", reason: expect.stringContaining(path) as string },
        });
      }
    }
    rmSync(path);
    expect(await verify()).toMatchObject({ error: { kind: "ResultsMissing" } });
  });

  test("cannot be verified if an older version wrote them without checksums; such results are still assembled", async () => {
    const current = decodeToken(await write(["old"], request(1n)))!;
    const old = encodeToken({ ...current, crc: undefined });
    const both = await write(["new"], request(2n, old));
    expect(decodeToken(both)).toMatchObject({ crc: undefined });
    expect(await assemble(both)).toEqual({ ok: true, value: { size: 12 } });
    expect(readFileSync(path, "utf8")).toBe('"old"\n"new"\n');
    expect(await verifyNdjson({ path, run, tokens: [both] })).toMatchObject({ ok: true });
    // Parts that are gone cannot be made up for by a file of the same size.
    expect(await assemble(both)).toMatchObject({ error: { kind: "PartMissing" } });
  });
});

describe("a disk that is full", () => {
  const OUT = "/data/out";

  test("makes nothing count that is not there, and what was refused is written once there is room", async () => {
    for (let room = 0; room < 240; room++) {
      const files = new CrashingFiles();
      await files.makeFolder("/data");
      files.limitRoom(room);
      const sink = await new NdjsonSink<Item, unknown>({ path: OUT }, files).open(request(1n));
      let lost: unknown;
      let token: Uint8Array | undefined;
      for (const result of ["first", "second"]) {
        sink.write(item("k"), result);
        token = await sink.flush().catch((thrown: unknown) => {
          lost = thrown;
          return token;
        });
      }
      if (lost !== undefined)
        expect(lost).toMatchObject({
          kind: "DiskFull",
          message: "the results cannot be written: no space left (ENOSPC)",
        });
      files.limitRoom(Infinity);
      token = await sink.flush();
      await sink.close();
      unwrap(await assembleWith(files, { path: OUT, run, tokens: [token] }));
      expect(files.content(OUT)).toBe('"first"\n"second"\n');
    }
  });

  test("ends the sink where a sync fails: what the system forgot, it would call written", async () => {
    const inner = new CrashingFiles();
    await inner.makeFolder("/data");
    const files: PartFiles = Object.assign(Object.create(inner) as PartFiles, {
      makeFolder: (at: string) => inner.makeFolder(at),
      syncFolder: (at: string) => inner.syncFolder(at),
      async create(at: string) {
        let syncs = 0;
        const file = await inner.create(at);
        return {
          ...file,
          async sync() {
            if (++syncs === 2) throw systemError("EIO");
            await file.sync();
          },
        };
      },
    });
    const sink = await new NdjsonSink<Item, unknown>({ path: OUT }, files).open(request(1n));
    sink.write(item("a"), 1);
    await sink.flush();
    sink.write(item("b"), 2);
    await expect(sink.flush()).rejects.toMatchObject({ kind: "Unwritable" });
    await expect(sink.flush()).rejects.toMatchObject({ kind: "Unwritable" });
    await sink.close();
  });
});

describe("the tokens of a run", () => {
  const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
  const key = (text: string) => new TextEncoder().encode(text);

  /** Work on a shard from where it stands up to `last`, one result a letter. */
  async function work(session: WorkerSession, letters: string): Promise<Cursor> {
    const sink = await ndjsonSink({ path }).open({
      shard: session.shardKey,
      fence: session.lease.fence,
      token: session.cursor.token,
    });
    for (const letter of letters) sink.write(item(letter), letter);
    const token = await sink.flush();
    await sink.close();
    return Cursor.fromParts({ lastKey: key(letters.at(-1)!), token });
  }

  test("are in the order of keys, through splits of both kinds, and only where nothing is left to do", async () => {
    const coordinator = new Coordinator({ store: new MemoryStore(), clock: new ManualClock() });
    const spec = (start: string, end: string): ShardSpec => unwrap(rangeShard({ start: key(start), end: key(end) }));
    const shards = [
      { shard: ShardId.fromRaw(1n), spec: spec("m", "z"), cursor: Cursor.initial() },
      { shard: ShardId.fromRaw(2n), spec: spec("a", "m"), cursor: Cursor.initial() },
    ];
    unwrap(
      await coordinator.createRunWithShards({
        tenant,
        run,
        config: { leaseDuration: 1000n },
        shards,
        opId: OpId.fromRaw(1n),
      }),
    );
    const open = async (shard: ShardId) =>
      unwrap(await coordinator.openSession({ tenant, key: { run, shard }, worker: WorkerId.fromRaw(1n) }));

    const replaced = await open(ShardId.fromRaw(1n));
    unwrap(await replaced.checkpoint(await work(replaced, "mn")));
    const children = unwrap(
      await replaced.splitReplace(unwrap(planHintedSplitReplace(replaced.spec, replaced.cursor, [key("s")]))),
    ).value.children;
    const halved = await open(ShardId.fromRaw(2n));
    unwrap(await halved.checkpoint(await work(halved, "ab")));
    const residual = unwrap(
      await halved.splitResidual(unwrap(planHintedSplitResidual(halved.spec, halved.cursor, key("f")))),
    ).value.residual;
    unwrap(await halved.complete(await work(halved, "cd")));

    expect(await sinkTokens(coordinator, { tenant, run })).toEqual({
      ok: false,
      error: { kind: "RunUnfinished", active: 3 },
    });
    const [low, high] = await Promise.all(children.map(open));
    unwrap(await low!.complete(await work(low!, "op")));
    unwrap(await high!.complete(await work(high!, "st")));
    unwrap(await (await open(residual)).complete(RANGE_EXHAUSTED));

    const tokens = unwrap(await sinkTokens(coordinator, { tenant, run }));
    unwrap(await assembleNdjson({ path, run, tokens }));
    expect(readFileSync(path, "utf8")).toBe(
      "abcdmnopst"
        .split("")
        .map((letter) => `"${letter}"\n`)
        .join(""),
    );
  });
});
