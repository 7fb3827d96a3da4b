import type { Result } from "@gossip/stdx";
import { expect, test } from "vitest";

/** A rule of an operation: the name of its refusal, and how to break it. */
export interface Rule<Situation> {
  readonly refusal: string;
  readonly breakIt: (situation: Situation) => Situation;
}

/**
 * Show that an operation checks its rules in this order.
 *
 * Each rule is broken alone, and with every later one: the earlier must decide. So two
 * neighbors that were swapped would show.
 */
export function testRuleOrder<Situation>(
  makeSituation: () => Situation,
  rules: readonly Rule<Situation>[],
  run: (situation: Situation) => Result<unknown, { readonly kind: string }>,
): void {
  test("nothing is broken: it goes through", () => {
    expect(run(makeSituation())).toMatchObject({ ok: true });
  });
  for (const [index, rule] of rules.entries()) {
    test(`${rule.refusal}, alone`, () => {
      expect(nameRefusal(run(rule.breakIt(makeSituation())))).toBe(rule.refusal);
    });
    for (const later of rules.slice(index + 1)) {
      test(`${rule.refusal} before ${later.refusal}`, () => {
        expect(nameRefusal(run(rule.breakIt(later.breakIt(makeSituation()))))).toBe(rule.refusal);
      });
    }
  }
}

/** The kind of a refusal, and of its reason where it wraps one: `SplitInvalid/SingleChild`. */
export function nameRefusal(result: Result<unknown, { readonly kind: string }>): string {
  if (result.ok) return "accepted";
  const { kind, reason } = result.error as { kind: string; reason?: { kind: string } };
  return reason === undefined ? kind : `${kind}/${reason.kind}`;
}
