import { createHash } from "node:crypto";

/** What must be the same at two nodes before a scope can move between them. */
export interface Hello {
  /** The node's name: another one may answer at its address. */
  readonly node: string;
  /** Identifies where the node gets its time. Deadlines travel with a scope, so both nodes need the same clock. */
  readonly oracle: string;
  /** The kind of its store. */
  readonly store: string;
}

/** Why a scope cannot move to a node. */
export type HelloRefusal = {
  readonly kind: "TargetSilent" | "OtherNode" | "OtherOracle" | "OtherStore";
};

/** A short identity of the oracle that a node uses, without its address. */
export function oracleIdentity(settings: string): string {
  return createHash("sha256").update(settings).digest("hex").slice(0, 16);
}

export function helloRefusal(
  own: Hello,
  theirs: Hello | undefined,
  expectedNode: string,
): HelloRefusal["kind"] | undefined {
  if (theirs === undefined) return "TargetSilent";
  if (theirs.node !== expectedNode) return "OtherNode";
  if (theirs.oracle !== own.oracle) return "OtherOracle";
  return theirs.store === own.store ? undefined : "OtherStore";
}

export function parseHello(text: string): Hello | undefined {
  try {
    const { node, oracle, store } = JSON.parse(text) as Record<string, unknown>;
    return typeof node === "string" && typeof oracle === "string" && typeof store === "string"
      ? { node, oracle, store }
      : undefined;
  } catch {
    return undefined;
  }
}
