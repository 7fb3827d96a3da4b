import { Cursor, RunId, ShardId, ShardKey, ShardSpec, type InitialShardInput } from "@gossip/contracts";
import type { RunConfigInput } from "../../../records/run-config.ts";
import type { RunAddress, ShardAddress } from "../invariants/violation.ts";
import { tileRanges } from "../key-space.ts";
import type { Random } from "../random.ts";
import { refused, type SimEvent } from "../sim-event.ts";
import type { RunEnding } from "../sim-op.ts";
import { Moment, type OpRun } from "./ask.ts";
import { drawMetadata } from "./split-ops.ts";

/** Most leases last 100 ticks. Some outlast a few jumps of time. */
const LEASE_TICKS = [100n, 100n, 600n] as const;

/** Mostly short, sometimes of the maximum size. */
const PREFIX_SIZES = [0, 0, 0, 1, 3, 12, 40] as const;
const LONG_PREFIX_SIZE = 4000;
const LONG_PREFIX_PPM = 20_000;
const GIVEN_CURSOR_PPM = 200_000;
const USED_RUN_PPM = 300_000;
const IN_PAGES_PPM = 400_000;
/** A registration that breaks off between two pages leaves an initializing run with shards. */
const BROKEN_OFF_PPM = 150_000;
const REPEATED_PAGE_PPM = 300_000;

/** The first shards of a run: adjacent ranges below one prefix, some with an initial cursor. */
export function drawManifest(
  random: Random,
  shardCount: number,
  longPrefixPpm: number = LONG_PREFIX_PPM,
): InitialShardInput[] {
  const prefixSize = random.chance(longPrefixPpm) ? LONG_PREFIX_SIZE : random.pick(PREFIX_SIZES);
  return tileRanges(random, random.bytes(prefixSize), shardCount).map(({ start, end }, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRangeAndMetadata({ start, end, metadata: drawMetadata(random) }),
    cursor: random.chance(GIVEN_CURSOR_PPM)
      ? Cursor.fromParts({ lastKey: start, token: random.bytes(4) })
      : Cursor.initial(),
  }));
}

export function drawConfig(random: Random): RunConfigInput {
  const maxShardRetries = random.pick([undefined, 5, 5, 2]);
  return {
    leaseDuration: random.pick(LEASE_TICKS),
    cursorSemantics: random.pick(["Completed", "Dispatched"]),
    maxShardRetries,
  };
}

/** Creates a run with a new id, or with one that is or was in use. */
export async function createRun({ world, random }: OpRun): Promise<SimEvent> {
  const { actor } = world.operator;
  const tenant = random.pick(world.tenants);
  const run = random.chance(USED_RUN_PPM) ? RunId.fromRaw(BigInt(random.between(1, 6))) : world.nextRunId();
  const request = {
    tenant,
    run,
    config: drawConfig(random),
    shards: drawManifest(random, random.between(1, 3)),
    opId: actor.nextOpId(),
  };
  const moment = new Moment(world, world.operator);
  if (random.chance(500_000)) {
    const created = await moment.hear(actor.coordinator.createRunWithShards(request));
    return created.ok
      ? { kind: created.value.kind === "Replayed" ? "ReplayedOk" : "RunCreatedOk" }
      : refused(created.error);
  }
  const created = await moment.hear(actor.coordinator.createRun(request));
  if (!created.ok) return refused(created.error);
  const isInPages = request.shards.length > 1 && random.chance(IN_PAGES_PPM);
  if (isInPages && !(await registerEarlierPages({ world, random }, moment, request)))
    return { kind: "RunCreatedOk", detail: "broken off" };
  const last = isInPages ? { ...request, shards: request.shards.slice(-1) } : request;
  const registered = await moment.hear(actor.coordinator.registerShards(last));
  if (!registered.ok) return refused(registered.error);
  if (moment.isUndisturbed && world.mirror.run(tenant, run)?.shards.size !== request.shards.length)
    world.wrong("registerShards", "the run does not have the shards of all pages");
  return { kind: "RunCreatedOk" };
}

/** Registers all shards but the last, a page each. Returns false if it breaks off before the last page. */
async function registerEarlierPages(
  { world, random }: OpRun,
  moment: Moment,
  { tenant, run, shards }: RunAddress & { readonly shards: readonly InitialShardInput[] },
): Promise<boolean> {
  const { actor } = world.operator;
  for (const shard of shards.slice(0, -1)) {
    const page = { tenant, run, shards: [shard], opId: actor.nextOpId(), more: true };
    const registered = await moment.hear(actor.coordinator.registerShards(page));
    if (!registered.ok || random.chance(BROKEN_OFF_PPM)) return false;
    if (random.chance(REPEATED_PAGE_PPM)) {
      const again = await moment.hear(actor.coordinator.registerShards(page));
      if (again.ok && again.value.kind !== "Replayed")
        world.wrong("registerShards", "a page that was registered before is reported as executed again");
    }
    const mirrored = world.mirror.run(tenant, run);
    if (moment.isUndisturbed && mirrored?.run.status !== "Initializing")
      world.wrong("registerShards", "the run became active before its last page");
  }
  return true;
}

export async function terminateRun(
  { world, random }: OpRun,
  address: RunAddress,
  ending: RunEnding,
): Promise<SimEvent> {
  const { actor } = world.operator;
  const request = { ...address, opId: actor.nextOpId() };
  const moment = new Moment(world, world.operator);
  const answer = await moment.hear(
    ending === "Complete"
      ? actor.coordinator.completeRun({ ...request, acceptParked: random.chance(500_000) })
      : ending === "Fail"
        ? actor.coordinator.failRun(request)
        : actor.coordinator.cancelRun(request),
  );
  if (!answer.ok) return refused(answer.error);
  if (answer.value.kind === "Replayed" && moment.isUndisturbed)
    world.wrong("run transition", "reported as a replay of an operation that was never executed");
  return { kind: "RunTerminalOk", detail: ending };
}

export async function deleteRun({ world }: OpRun, address: RunAddress): Promise<SimEvent> {
  const moment = new Moment(world, world.operator);
  const answer = await moment.hear(world.operator.actor.coordinator.deleteRun(address));
  if (!answer.ok) return refused(answer.error);
  if (world.mirror.run(address.tenant, address.run) !== undefined)
    world.wrong("deleteRun", "reported as deleted, but the run exists");
  return { kind: "RunDeletedOk" };
}

export async function unpark({ world }: OpRun, { tenant, run, shard }: ShardAddress): Promise<SimEvent> {
  const { actor } = world.operator;
  const opId = actor.nextOpId();
  const moment = new Moment(world, world.operator);
  const answer = await moment.hear(actor.coordinator.unpark({ tenant, key: ShardKey.of(run, shard), opId }));
  if (!answer.ok) return refused(answer.error);
  return { kind: answer.value.kind === "Replayed" ? "ReplayedOk" : "UnparkOk" };
}
