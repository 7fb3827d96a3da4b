import { MAX_KEY_SIZE } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import { hex } from "../keys.fixture.ts";

/**
 * The midpoint by its five phases, one after another, on bigints: slow, and with nothing clever in it.
 *
 * Phase 4 is here although the real one leaves it out: that both agree shows that it may.
 */
export function fivePhaseMidpoint(a: Uint8Array, b: Uint8Array): Uint8Array | undefined {
  const size = Math.max(a.length, b.length);
  if (compareBytes(a, b) >= 0 || size === 0 || size > MAX_KEY_SIZE) return undefined;
  const isBetween = (key: Uint8Array): boolean => compareBytes(a, key) < 0 && compareBytes(key, b) < 0;

  const half = (asInteger(a, size) + asInteger(b, size)) / 2n;
  const quotient = hex(half.toString(16).padStart(2 * size + 2, "0"));
  if (quotient[0] === 0 && isBetween(quotient.subarray(1))) return quotient.slice(1);
  if (quotient.length <= MAX_KEY_SIZE && isBetween(quotient)) return quotient;
  const next = successorByDefinition(a);
  return next !== undefined && isBetween(next) ? next : undefined;
}

function asInteger(key: Uint8Array, size: number): bigint {
  let digits = "0x";
  for (let index = 0; index < size; index++) digits += (key[index] ?? 0).toString(16).padStart(2, "0");
  return BigInt(digits);
}

function successorByDefinition(key: Uint8Array): Uint8Array | undefined {
  if (key.length < MAX_KEY_SIZE) return Uint8Array.from([...key, 0]);
  const raised = [...key];
  while (raised.at(-1) === 0xff) raised.pop();
  const last = raised.pop();
  return last === undefined ? undefined : Uint8Array.from([...raised, last + 1]);
}
