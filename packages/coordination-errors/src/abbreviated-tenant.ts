import { TenantId } from "@gossip/contracts";
import { Redacted } from "@gossip/stdx";

/**
 * A tenant that everything which prints shows by its first four bytes: enough to
 * tell two tenants apart, too little to be used as an id.
 *
 * `Redacted.reveal` gives the whole id, or `undefined` where the error came from
 * JSON, which carries the abbreviation only.
 */
export class AbbreviatedTenant extends Redacted<TenantId | undefined> {
  readonly #text: string;

  constructor(text: string, tenant: TenantId | undefined) {
    super(tenant);
    this.#text = text;
  }

  static of(tenant: TenantId): AbbreviatedTenant {
    return new AbbreviatedTenant(TenantId.abbreviate(tenant), tenant);
  }

  override toString(): string {
    return this.#text;
  }

  override toJSON(): string {
    return this.#text;
  }

  // Overrides too; the compiler takes the word for static names only.
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.#text;
  }
}
