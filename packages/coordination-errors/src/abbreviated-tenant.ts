import { TenantId } from "@gossip/contracts";
import { Redacted } from "@gossip/stdx";

/**
 * A tenant that everything which prints shows by its first four bytes: enough to tell two tenants apart, too little to
 * be used as an id.
 *
 * `Redacted.reveal` gives the whole id, or `undefined` if the error came from JSON, which carries the abbreviation
 * only.
 */
export class AbbreviatedTenant extends Redacted<TenantId | undefined> {
  /** `undefined` until it is asked for: most errors are handled and never printed. */
  #text: string | undefined;

  /** Pass `text` for a tenant of which no more than its abbreviation is known. */
  constructor(tenant: TenantId | undefined, text?: string) {
    super(tenant);
    this.#text = text;
  }

  override toString(): string {
    return (this.#text ??= abbreviate(Redacted.reveal(this)));
  }

  override toJSON(): string {
    return this.toString();
  }

  // Overrides too; the compiler takes the word for static names only.
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

function abbreviate(tenant: TenantId | undefined): string {
  // A malformed tenant id may hold anything, and errors must not throw while they are built.
  return tenant !== undefined && TenantId.parse(tenant).ok ? TenantId.abbreviate(tenant) : "<redacted>";
}
