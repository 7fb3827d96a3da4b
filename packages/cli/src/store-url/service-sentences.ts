import { InfraError } from "@gossip/coordination-errors";
import { err, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";
import { passing } from "./open-sentences.ts";
import { TOKEN_VARIABLE } from "./service-address.ts";

/** Why a service cannot be reached, and what to do. */
export function unreachableSentence(error: InfraError, where: string): Result<never, CliError> {
  const { message, code = "" } = error;
  if (message.includes("certificate"))
    return fail("StoreAccessDenied", `${message} (${code}): name the authority that signed it with --ca FILE.`);
  return err({
    kind: "StoreUnreachable",
    message: `${where} cannot be reached (${message}${code === "" ? "" : `, ${code}`}): see that \`gossip serve\` runs there, then run the same command again; nothing was lost.`,
    ...(InfraError.isTransient(error) && passing(code || message)),
  });
}

/** The error to print if a service refused a request for good. `undefined` if something else was thrown. */
export function refusedSentence(thrown: unknown, where = "the service"): CliError | undefined {
  if (!(thrown instanceof Error) || thrown.name !== "ServiceRefused") return undefined;
  const { kind } = thrown as Error & { readonly kind?: string };
  if (kind === "Unauthenticated")
    return {
      kind: "StoreAccessDenied",
      message: `${where} does not accept the token: set ${TOKEN_VARIABLE}, or name a file with --token-file; \`gossip token create --help\` says how to make one.`,
    };
  if (kind === "Forbidden")
    return {
      kind: "StoreAccessDenied",
      message: `the token does not allow this at ${where} (${thrown.message}): use a token with that role.`,
    };
  return { kind: "StoreFailed", message: `${where} refused the request (${thrown.message}): nothing was changed.` };
}
