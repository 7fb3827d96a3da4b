import { ShardId } from "@gossip/contracts";
import type { Lease } from "../../records/lease.ts";
import type { ShardRecord } from "../../records/shard-record.ts";
import type { MutationStream } from "../sim/invariants/mutation-stream.ts";
import type { ActorState, ExploreBounds, ExploreState } from "./explore-state.ts";
import type { ShardDelivery } from "./deliver.ts";
import { formatMessage, type Message } from "./message.ts";
import type { RequestBook } from "./requests.ts";

/** The number of requests of an actor that the network may still deliver. */
const REMEMBERED_REQUESTS = 2;

/**
 * One event.
 *
 * - `Tick`    — time passes.
 * - `Send`    — an actor sends a request, which is delayed.
 * - `Deliver` — a request arrives: a new one, a delayed one, or one that has arrived before. Its sender receives the
 *   response, or the response is lost.
 */
export type Move =
  | { readonly kind: "Tick" }
  | { readonly kind: "Send"; readonly actor: number; readonly message: Message }
  | {
      readonly kind: "Deliver";
      readonly actor: number;
      readonly message: Message;
      readonly isNew: boolean;
      readonly isHeard: boolean;
    };

/** Everything that can happen in a state. */
export function movesFrom(state: ExploreState, requests: RequestBook, { ticks }: ExploreBounds): Move[] {
  const moves: Move[] = state.tick < ticks ? [{ kind: "Tick" }] : [];
  for (const [actor, { sent }] of state.actors.entries()) {
    for (const message of sent) addDeliveries(moves, { actor, message, isNew: false });
    for (const message of requests.next(state, actor)) {
      moves.push({ kind: "Send", actor, message });
      addDeliveries(moves, { actor, message, isNew: true });
    }
  }
  return moves;
}

/** Only the response to an acquire matters to its sender, because it contains a lease. */
function addDeliveries(
  moves: Move[],
  delivery: { readonly actor: number; readonly message: Message; readonly isNew: boolean },
): void {
  moves.push({ kind: "Deliver", ...delivery, isHeard: true });
  if (delivery.message.kind === "Acquire") moves.push({ kind: "Deliver", ...delivery, isHeard: false });
}

export function formatMove(move: Move): string {
  if (move.kind === "Tick") return "time passes";
  const who = `actor ${move.actor + 1}`;
  if (move.kind === "Send") return `${who} sends ${formatMessage(move.message)}, held up`;
  return `${who} ${move.isNew ? "sends" : "sends again"} ${formatMessage(move.message)}${move.isHeard ? "" : ", answer lost"}`;
}

/** The actor after it has sent another request. */
export function withRequest({ leases, sent, requestCount }: ActorState, message: Message): ActorState {
  return { leases, sent: [message, ...sent].slice(0, REMEMBERED_REQUESTS), requestCount: requestCount + 1 };
}

/** The actor after it has received a lease, which replaces an older one of the same shard. */
export function withLease({ leases, sent, requestCount }: ActorState, lease: Lease): ActorState {
  const others = leases.filter(({ shard }) => shard !== lease.shard);
  return { leases: [...others, lease].toSorted((a, b) => (a.shard < b.shard ? -1 : 1)), sent, requestCount };
}

/** The shards and their streams after a delivery. */
export function withDelivery(
  { shards, streams }: Pick<ExploreState, "shards" | "streams">,
  { writes, accepted }: ShardDelivery,
): Pick<ExploreState, "shards" | "streams"> {
  if (writes === undefined) return { shards, streams };
  const index = shards.findIndex(({ shard }) => shard === writes.shard.shard);
  const stream: MutationStream | undefined =
    accepted === undefined ? streams[index] : { fence: accepted.fence, owner: accepted.owner };
  const updated = { shards: shards.with(index, writes.shard), streams: streams.with(index, stream) };
  return writes.kind === "UpdateShard" ? updated : withCreated(updated, writes.created);
}

function withCreated(
  { shards, streams }: Pick<ExploreState, "shards" | "streams">,
  created: readonly ShardRecord[],
): Pick<ExploreState, "shards" | "streams"> {
  const rows = shards.map((shard, index) => ({ shard, stream: streams[index] }));
  const all = [...rows, ...created.map((shard) => ({ shard, stream: undefined }))];
  all.sort((a, b) => (ShardId.format(a.shard.shard) < ShardId.format(b.shard.shard) ? -1 : 1));
  return { shards: all.map((row) => row.shard), streams: all.map((row) => row.stream) };
}
