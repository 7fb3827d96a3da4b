import { formCases } from "./form-cases.ts";
import { leaseCases } from "./lease-cases.ts";
import { noteCases } from "./note-cases.ts";
import type { ProtocolCase } from "./protocol-case.ts";
import { runCases } from "./run-cases.ts";
import { ServiceProbe, type ServiceUnderTest } from "./service-probe.ts";
import { splitCases } from "./split-cases.ts";

/** Everything that a server of the protocol must do, as far as a client can see it. */
export const PROTOCOL_CASES: readonly ProtocolCase[] = [
  ...formCases,
  ...runCases,
  ...leaseCases,
  ...splitCases,
  ...noteCases,
];

/** How a case ended. */
export interface CaseResult {
  readonly name: string;
  readonly kind: "Passed" | "Failed" | "Skipped";
  /** What the server did wrong. */
  readonly problem?: string;
}

export interface CheckOptions {
  /** Run only these cases. Default: all. */
  readonly only?: (name: string) => boolean;
}

/**
 * Check whether a running server speaks the protocol.
 *
 * It needs a URL and a token with the role `operate`. It creates runs with random ids and removes them again, so that it
 * can be used on a server that others use too. For a certificate of your own authority set `NODE_EXTRA_CA_CERTS`.
 */
export async function checkService(
  service: ServiceUnderTest,
  { only = () => true }: CheckOptions = {},
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const each of PROTOCOL_CASES.filter(({ name }) => only(name))) {
    const { name, needsStranger = false } = each;
    if (needsStranger && service.strangerToken === undefined) results.push({ name, kind: "Skipped" });
    else results.push(await runCase(service, each));
  }
  return results;
}

async function runCase(service: ServiceUnderTest, { name, run }: ProtocolCase): Promise<CaseResult> {
  const probe = new ServiceProbe(service);
  try {
    await run(probe);
    return { name, kind: "Passed" };
  } catch (thrown) {
    // Also what `fetch` throws: a server that does not answer fails the case.
    return { name, kind: "Failed", problem: thrown instanceof Error ? thrown.message : String(thrown) };
  } finally {
    await probe.clean().catch(() => {});
  }
}
