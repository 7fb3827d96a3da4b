import { Cursor, MAX_KEY_SIZE, MAX_TOKEN_SIZE, ParkReason, type OpId } from "@gossip/contracts";
import { RANGE_EXHAUSTED } from "../../../hashing/payload-hash.ts";
import type { Lease } from "../../../records/lease.ts";
import { concat, keyBetween } from "../key-space.ts";
import type { Random } from "../random.ts";
import { refused, rejected, type SimEvent } from "../sim-event.ts";
import { nameShard, type HeldShard, type SimWorker } from "../sim-worker.ts";
import { askLogged, callsOf, giveUp, Moment, request, takeRefusal, type OpRun } from "./ask.ts";

const TOKEN_PPM = 300_000;
const LARGE_TOKEN_PPM = 10_000;
const RENEW_PPM = 500_000;
const EXHAUSTED_PPM = 300_000;

/** The errors that a zombie may get: its fence is stale, or its shard has ended. */
const ZOMBIE_REFUSALS: readonly string[] = ["StaleFence", "ShardTerminal", "ShardNotFound"];

/** A cursor beyond the one that the worker knows, or the same key if there is none beyond it. */
export function nextCursor(random: Random, { spec, cursor }: Pick<HeldShard, "spec" | "cursor">): Cursor {
  const low = cursor.lastKey ?? spec.keyRangeStart;
  const lastKey = keyBetween(random, low, spec.keyRangeEnd) ?? low;
  return Cursor.fromParts({ lastKey, token: drawToken(random) });
}

function drawToken(random: Random): Uint8Array | undefined {
  if (random.chance(LARGE_TOKEN_PPM)) return new Uint8Array(MAX_TOKEN_SIZE).fill(random.below(256));
  return random.chance(TOKEN_PPM) ? random.bytes(random.between(1, 24)) : undefined;
}

export function checkpoint(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const cursor = nextCursor(run.random, held);
  const opId = worker.actor.nextOpId();
  return checkpointAs(run, worker, { held, cursor, opId, renew: run.random.chance(RENEW_PPM) });
}

interface Checkpoint {
  readonly held: HeldShard;
  readonly cursor: Cursor;
  readonly opId: OpId;
  readonly renew: boolean;
  readonly isOtherPayload?: boolean;
}

function checkpointAs(run: OpRun, worker: SimWorker, { cursor, renew, ...rest }: Checkpoint): Promise<SimEvent> {
  const { held, opId } = rest;
  const { lease } = held;
  return request(run, worker, {
    ...rest,
    ask: (calls) => calls.checkpoint(cursor, { opId, renew }),
    accept: () => {
      const believed = worker.held(lease);
      if (believed?.lease.fence === lease.fence) worker.hold({ ...believed, cursor });
      worker.priorCheckpoints.set(nameShard(lease), { lease, opId, cursor });
      return { kind: "CheckpointOk" };
    },
  });
}

/** Repeats the last checkpoint of this shard. */
export async function replayCheckpoint(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const prior = worker.priorCheckpoints.get(nameShard(held.lease));
  if (prior === undefined) return rejected("NoPriorCheckpoint");
  const { opId, cursor } = prior;
  return checkpointAs(run, worker, { held, cursor, opId, renew: false });
}

/** Makes another checkpoint with the op id of the shard's last one. */
export async function conflictCheckpoint(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const prior = worker.priorCheckpoints.get(nameShard(held.lease));
  if (prior === undefined) return rejected("NoPriorCheckpoint");
  const cursor = nextCursor(run.random, held);
  if (Cursor.equals(cursor, prior.cursor)) return { kind: "Skipped" };
  return checkpointAs(run, worker, { held, cursor, opId: prior.opId, renew: false, isOtherPayload: true });
}

/**
 * Writes under a lease whose shard another worker has taken over. The write must be refused, as stale or because the
 * shard has ended.
 */
export async function zombieCheckpoint(run: OpRun, zombie: SimWorker, lease: Lease): Promise<SimEvent> {
  const { world, random } = run;
  const opId = zombie.actor.nextOpId();
  const spec = world.mirror.shard(lease)?.spec;
  const cursor = Cursor.withLastKey(
    spec === undefined
      ? Uint8Array.of(0x6d)
      : (keyBetween(random, spec.keyRangeStart, spec.keyRangeEnd) ?? spec.keyRangeStart),
  );
  const ask = () => callsOf(zombie, { lease, session: undefined }).checkpoint(cursor, { opId, renew: false });
  const moment = new Moment(world, zombie);
  const answer = await askLogged(world, { worker: zombie, lease, opId, ask });
  if (answer.ok) {
    world.wrong("checkpoint", "a write of a zombie was accepted");
    return { kind: "CheckpointOk", detail: "by a zombie" };
  }
  const isRight = ZOMBIE_REFUSALS.includes(answer.error.kind);
  if (moment.isUndisturbed && !isRight) world.wrong("checkpoint", `a zombie was refused as ${answer.error.kind}`);
  return refused(answer.error);
}

/** A checkpoint that is malformed in one of five ways. */
export async function malformedCheckpoint(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const cursor = malformedCursor(run.random, held);
  const { lease } = held;
  const opId = worker.actor.nextOpId();
  const ask = () => callsOf(worker, held).checkpoint(cursor, { opId, renew: false });
  const answer = await askLogged(run.world, { worker, lease, opId, ask });
  if (answer.ok) return { kind: "CheckpointOk", detail: "at the same key" };
  return takeRefusal(run, { worker, lease, again: undefined }, answer.error);
}

function malformedCursor(random: Random, { spec, cursor }: HeldShard): Cursor {
  const inside = cursor.lastKey ?? spec.keyRangeStart;
  switch (random.below(5)) {
    case 0:
      return Cursor.initial();
    case 1:
      return Cursor.withLastKey(concat(spec.keyRangeStart, new Uint8Array(MAX_KEY_SIZE)));
    case 2:
      return Cursor.fromParts({ lastKey: inside, token: new Uint8Array(MAX_TOKEN_SIZE + 1) });
    case 3:
      return Cursor.withLastKey(spec.keyRangeEnd);
    default:
      return Cursor.withLastKey(spec.keyRangeStart);
  }
}

export function complete(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const { random } = run;
  const point = random.chance(EXHAUSTED_PPM) ? RANGE_EXHAUSTED : nextCursor(random, held);
  const opId = worker.actor.nextOpId();
  return giveUp(run, worker, { held, opId, kind: "CompleteOk", ask: (calls) => calls.complete(point, { opId }) });
}

export function park(run: OpRun, worker: SimWorker, held: HeldShard): Promise<SimEvent> {
  const reason = run.random.pick(ParkReason.values);
  const opId = worker.actor.nextOpId();
  return giveUp(run, worker, { held, opId, kind: "ParkOk", ask: (calls) => calls.park(reason, { opId }) });
}

/** Presents a lease under another tenant. */
export async function foreignTenant(run: OpRun, worker: SimWorker, { lease, spec }: HeldShard): Promise<SimEvent> {
  const { world } = run;
  const tenant = world.stranger;
  const opId = worker.actor.nextOpId();
  const cursor = Cursor.withLastKey(spec.keyRangeStart);
  const answer = await new Moment(world, worker).hear(
    worker.actor.coordinator.checkpoint({ tenant, lease, cursor, opId }),
  );
  if (answer.ok) {
    world.wrong("checkpoint", "a tenant wrote to another's shard");
    return { kind: "CheckpointOk", detail: "of another tenant" };
  }
  return refused(answer.error);
}
