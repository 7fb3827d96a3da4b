import type { Decision, ReloadError, StartError } from "@gossip/scope";
import type { Result } from "@gossip/stdx";
import type { Ownership } from "../ownership/ownership.ts";
import type { HelloRefusal } from "./hello.ts";

/** What operators may do with this node's part of a cluster. */
export interface ClusterControl {
  readonly self: string;
  readonly ownership: Ownership;
  move(command: MoveCommand): Promise<Result<Decision | undefined, MoveError>>;
  abort(id: string): Promise<Decision | undefined>;
  markDown(node: string): Promise<readonly TakenScope[] | undefined>;
  markUp(node: string): Promise<boolean>;
  /** Use the cluster file as it is now. Returns the new epoch. */
  reload(): Promise<Result<number, ReloadError | InvalidFile>>;
}

/** A scope, and the fallback that takes it over. */
export interface TakenScope {
  readonly prefix: string;
  readonly by: string;
}

export interface MoveCommand {
  /** Identifies the move, so that it can be repeated. */
  readonly id: string;
  readonly prefix: string;
  readonly to: string;
  readonly timeoutMs?: number | undefined;
}

export type MoveError = StartError | UnknownNode | HelloRefusal;

/** The cluster file has no node with this name. */
export interface UnknownNode {
  readonly kind: "UnknownNode";
}

export interface InvalidFile {
  readonly kind: "InvalidFile";
  readonly problem: string;
}
