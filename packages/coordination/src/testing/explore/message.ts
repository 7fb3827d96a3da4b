import {
  ShardId,
  type Cursor,
  type OpId,
  type ParkReason,
  type ShardKey,
  type ShardSpecRef,
  type SplitReplaceChild,
  type SplitReplacePlan,
  type SplitResidualPlan,
  type WorkerId,
} from "@gossip/contracts";
import type { Lease } from "../../records/lease.ts";

/** The requests of a worker that believes it has a lease. */
export type LeasedMessage = { readonly lease: Lease } & (
  | { readonly kind: "Renew" }
  | { readonly kind: "Checkpoint"; readonly opId: OpId; readonly cursor: Cursor; readonly renew: boolean }
  | { readonly kind: "Complete"; readonly opId: OpId; readonly cursor: Cursor }
  | { readonly kind: "Park"; readonly opId: OpId; readonly reason: ParkReason }
  | { readonly kind: "Release"; readonly opId: OpId }
  | { readonly kind: "SplitReplace"; readonly opId: OpId; readonly plan: SplitReplacePlan }
  | { readonly kind: "SplitResidual"; readonly opId: OpId; readonly plan: SplitResidualPlan }
);

/** A request to a shard. */
export type ShardMessage =
  | LeasedMessage
  | { readonly kind: "Acquire"; readonly opId: OpId; readonly key: ShardKey; readonly worker: WorkerId }
  | { readonly kind: "Unpark"; readonly opId: OpId; readonly key: ShardKey };

/** A request of the operator to the run. */
export type RunMessage =
  | { readonly kind: "CompleteRun" | "FailRun" | "CancelRun"; readonly opId: OpId }
  | { readonly kind: "DeleteRun" };

/**
 * A request in flight.
 *
 * It is immutable, so that delivering it again is a retry: the same op id, the same payload, and the lease that its
 * sender had when it sent it.
 */
export type Message = ShardMessage | RunMessage;

export type MessageKind = Message["kind"];

const KINDS: Readonly<Record<MessageKind, true>> = {
  Acquire: true,
  Renew: true,
  Checkpoint: true,
  Complete: true,
  Park: true,
  Release: true,
  SplitReplace: true,
  SplitResidual: true,
  Unpark: true,
  CompleteRun: true,
  FailRun: true,
  CancelRun: true,
  DeleteRun: true,
};

/** All kinds of requests. */
export const MESSAGE_KINDS: readonly MessageKind[] = /* @__PURE__ */ Object.keys(KINDS) as MessageKind[];

export function isRunMessage(message: Message): message is RunMessage {
  return (
    message.kind === "CompleteRun" ||
    message.kind === "FailRun" ||
    message.kind === "CancelRun" ||
    message.kind === "DeleteRun"
  );
}

export function isLeasedMessage(message: Message): message is LeasedMessage {
  return "lease" in message;
}

export function shardOf(message: ShardMessage): ShardId {
  return isLeasedMessage(message) ? message.lease.shard : message.key.shard;
}

/** Identifies a message: two with the same text are the same request. Traces show it too. */
export function formatMessage(message: Message): string {
  if (isRunMessage(message)) return message.kind === "DeleteRun" ? message.kind : `${message.kind} op ${message.opId}`;
  const shard = ShardId.format(shardOf(message));
  if (message.kind === "Acquire") return `Acquire ${shard} worker ${message.worker} op ${message.opId}`;
  if (message.kind === "Unpark") return `Unpark ${shard} op ${message.opId}`;
  const { owner, fence, deadline } = message.lease;
  const held = `${message.kind} ${shard} worker ${owner} fence ${fence} until ${deadline}`;
  return message.kind === "Renew" ? held : `${held} op ${message.opId}${formatPayload(message)}`;
}

function formatPayload(message: LeasedMessage): string {
  if (message.kind === "Checkpoint") return ` at ${hex(message.cursor.lastKey)}${message.renew ? " renewing" : ""}`;
  if (message.kind === "Complete") return ` at ${hex(message.cursor.lastKey)}`;
  if (message.kind === "Park") return ` ${message.reason}`;
  if (message.kind === "SplitReplace") return ` into ${message.plan.children.map(formatChild).join(" ")}`;
  if (message.kind === "SplitResidual")
    return ` into ${formatRange(message.plan.parentNewSpec)} ${formatRange(message.plan.residualSpec)}`;
  return "";
}

function formatChild({ spec, cursor }: SplitReplaceChild): string {
  return cursor.lastKey === undefined ? formatRange(spec) : `${formatRange(spec)}@${hex(cursor.lastKey)}`;
}

function formatRange({ keyRangeStart, keyRangeEnd }: ShardSpecRef): string {
  return `${hex(keyRangeStart)}-${hex(keyRangeEnd)}`;
}

function hex(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "nothing" : Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
