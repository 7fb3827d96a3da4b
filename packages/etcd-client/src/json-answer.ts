import { err, ok, type Result } from "@gossip/stdx";
import { EtcdCode, type EtcdError } from "./etcd-error.ts";
import type { Answered } from "./exchange.ts";

/** An object that etcd answered with. Absent fields are zero: its JSON leaves zeros out. */
export type Json = Readonly<Record<string, unknown>>;

/** What a whole answer of a member says. */
export function readAnswer({ status, text }: Answered): Result<Json, EtcdError> {
  const answer = parseObject(text);
  if (answer === undefined) {
    const reason = `an answer of status ${status} is no JSON`;
    // Who refuses before it comes to etcd's own part does so in plain words: a host that is not allowed, a gateway that is turned off.
    return status >= 400 && status < 500 && status !== 429
      ? err({ kind: "EtcdRefused", code: 0, reason })
      : unavailable(reason);
  }
  if (status === 200) return ok(answer);
  const reason = typeof answer["message"] === "string" ? answer["message"] : "etcd gave no reason";
  const code = typeof answer["code"] === "number" ? answer["code"] : 0;
  // A request that is too large is refused before anything is done. "No space" may be the answer to a write that was made.
  if (code === EtcdCode.ResourceExhausted || status === 429)
    return unavailable(reason, { mayBeDone: reason.includes("space exceeded") });
  // Other trouble of its own, such as a change of leader, can come upon it while the request is under way.
  return status >= 500 ? unavailable(reason) : err({ kind: "EtcdRefused", code, reason });
}

export function unavailable(reason: string, { mayBeDone = true } = {}): Result<never, EtcdError> {
  return err({ kind: "EtcdUnavailable", reason, mayBeDone });
}

export function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

export function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.map((each) => objectOf(each)) : [];
}

export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

/** 64-bit integers come as text, or not at all if they are 0. */
export function integerOf(value: unknown): bigint {
  return typeof value === "string" && /^-?[0-9]{1,20}$/u.test(value) ? BigInt(value) : 0n;
}

/** The revision at which etcd answered; 0 where it does not say. */
export function revisionOf(answer: Json): bigint {
  return integerOf(objectOf(answer["header"])["revision"]);
}
