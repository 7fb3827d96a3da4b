/** Why tests that need a missing engine are skipped, printed as a warning; `undefined` if it is there. Throws where engines are required. */
export function skippedFor(missing: string | undefined): string | undefined {
  if (missing === undefined) return undefined;
  if (process.env["GOSSIP_REQUIRE_ENGINES"] === "1")
    throw new Error(`${missing}, and engines are required (GOSSIP_REQUIRE_ENGINES=1)`);
  console.warn(`Skipped: ${missing}`);
  return missing;
}
