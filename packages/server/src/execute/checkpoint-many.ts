import type { LogicalTime, RunId, ShardId, TenantId, WorkerId } from "@gossip/contracts";
import { Lease, type CheckpointRequest, type CheckpointResult } from "@gossip/coordination";
import type { CheckpointError, IdempotentOutcome } from "@gossip/coordination-errors";
import { WireReader, writeCapacity, writeLease, type BodyOf, type ResponseOf } from "@gossip/protocol";
import type { Result } from "@gossip/stdx";
import { defectOf } from "./batch-executors.ts";
import type { Execute } from "./call.ts";
import { isFailure, type ElementContext, type Failure } from "./element-context.ts";

type Body = BodyOf<"checkpointMany">;
type Other = NonNullable<ResponseOf<"checkpointMany">["others"]>[number];
type Checkpointed = Result<IdempotentOutcome<CheckpointResult>, CheckpointError>;

const COLUMNS = ["fences", "opIds", "cursors"] as const satisfies readonly (keyof Body)[];
/** The record decides whether a lease has expired, so the short form leaves the deadline out. */
const NO_DEADLINE = 1n as LogicalTime;

/** Execute many checkpoints of one worker in one run. Hot: it makes no promise and no text for each of them. */
export const checkpointMany: Execute<"checkpointMany"> = async (context, { body }) => {
  const tenant = context.resolveTenant(body.tenant);
  if (isFailure(tenant)) return tenant;
  const uneven = COLUMNS.find((column) => body[column].length !== body.shards.length);
  if (uneven !== undefined) return context.badField({ field: uneven, expected: "an item for each shard" });
  const reads = readRequests(context, tenant, body);
  const requests = reads.filter((read): read is CheckpointRequest => !isFailure(read));
  await context.service.turn.end();
  const results = await execute(context, requests);

  let done: CheckpointResult | undefined;
  const others: Other[] = [];
  let next = 0;
  for (let index = 0; index < reads.length; index++) {
    const read = reads[index]!;
    const result = isFailure(read) ? read : results[next++]!;
    if (isFailure(result)) others.push({ index, ...result });
    else if (!result.ok) others.push({ index, ...(await fail(context, read as CheckpointRequest, result.error)) });
    else {
      const { kind, value } = result.value;
      if (kind === "Executed" && (done === undefined || value.newDeadline === done.newDeadline)) done = value;
      else others.push({ index, ok: writeResult(context, { tenant, body, outcome: result.value }) });
    }
  }
  const ok: ResponseOf<"checkpointMany"> = {};
  if (done !== undefined) ok.done = writeResult(context, { tenant, body, outcome: { kind: "Executed", value: done } });
  if (others.length > 0) ok.others = others;
  return { ok };
};

/** The checkpoints of a body: each a request, or what is wrong with it. */
function readRequests(context: ElementContext, tenant: TenantId, body: Body): (CheckpointRequest | Failure)[] {
  const { shards, fences, opIds, cursors, renew = false } = body;
  let read = new WireReader();
  const run = read.id<RunId>(body.run);
  const owner = read.id<WorkerId>(body.worker);
  return shards.map((shardText, index) => {
    const shard = read.id<ShardId>(shardText);
    const fence = read.fence(fences[index]!, "fences");
    const wire = cursors[index]!;
    const cursor = typeof wire === "string" ? read.cursorAt(wire, "cursors") : read.cursor(wire, "cursors");
    const checked = read.done(cursor);
    if (checked.ok) {
      const lease = Lease.of({ tenant, run, shard, owner, fence, deadline: NO_DEADLINE });
      return { tenant, lease, opId: read.opId(opIds[index]!), cursor, renew };
    }
    read = new WireReader();
    return context.badField(checked.error);
  });
}

/** The result of each checkpoint. After a defect, only those that it concerns fail. */
async function execute(
  context: ElementContext,
  requests: readonly CheckpointRequest[],
): Promise<readonly (Checkpointed | Failure)[]> {
  const { coordinator } = context;
  try {
    return await coordinator.checkpointMany(requests);
  } catch {
    // Those that were executed before are replays now.
    return Promise.all(
      requests.map((request) =>
        coordinator.checkpoint(request).catch((thrown: unknown) => {
          context.service.onDefect(thrown);
          return defectOf(context);
        }),
      ),
    );
  }
}

function fail(context: ElementContext, { lease }: CheckpointRequest, error: CheckpointError): Promise<Failure> {
  context.service.console?.noteRefusal({ lease: writeLease(lease) }, error.kind);
  return context.fail(error);
}

interface Written {
  readonly tenant: TenantId;
  readonly body: Body;
  readonly outcome: IdempotentOutcome<CheckpointResult>;
}

function writeResult(context: ElementContext, { tenant, body, outcome }: Written): ResponseOf<"checkpoint"> {
  const { newDeadline, capacity } = outcome.value;
  return {
    outcome: outcome.kind,
    capacity: writeCapacity(capacity),
    ...(newDeadline === undefined ? {} : { deadline: newDeadline.toString() }),
    ...context.signals(tenant, new WireReader().id<RunId>(body.run), capacity),
  };
}
