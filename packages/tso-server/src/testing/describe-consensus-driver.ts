import { assert } from "@gossip/stdx";
import type { DriverAbility, DriverFixture, DriverRule, SuiteRegistrar } from "./driver-fixture.ts";
import { HIGH_WATER_RULES } from "./high-water-rules.ts";
import { LEADERSHIP_RULES } from "./leadership-rules.ts";
import { REPLICATION_RULES } from "./replication-rules.ts";

/**
 * The contract that every driver keeps. A driver's own package calls this with a way to make a fresh store;
 * each rule gets one of its own. `can` names the optional ways that its fixtures have.
 */
export function describeConsensusDriver(
  name: string,
  makeFixture: () => Promise<DriverFixture>,
  options: SuiteRegistrar & { readonly can?: readonly DriverAbility[] },
): void {
  const { describe, test, can = [] } = options;
  const rules = Object.entries({ ...LEADERSHIP_RULES, ...HIGH_WATER_RULES, ...REPLICATION_RULES });
  describe(`${name} as a consensus driver`, () => {
    for (const [title, rule] of rules) {
      if (rule.needs.every((ability) => can.includes(ability))) test(title, () => checkOn(makeFixture, rule));
    }
  });
}

async function checkOn(makeFixture: () => Promise<DriverFixture>, { needs, check }: DriverRule): Promise<void> {
  const fixture = await makeFixture();
  try {
    for (const ability of needs)
      assert(fixture[ability] !== undefined, `a fixture that can ${ability} has a way to do it`);
    await check(fixture as Required<DriverFixture>);
  } finally {
    await fixture.dispose();
  }
}
