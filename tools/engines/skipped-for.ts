/** Why tests are skipped that need what is missing, said aloud; `undefined` where nothing is. Where engines are required, nothing is skipped. */
export function skippedFor(missing: string | undefined): string | undefined {
  if (missing === undefined) return undefined;
  if (process.env["GOSSIP_REQUIRE_ENGINES"] === "1")
    throw new Error(`${missing}, and engines are required (GOSSIP_REQUIRE_ENGINES=1)`);
  console.warn(`Skipped: ${missing}`);
  return missing;
}
