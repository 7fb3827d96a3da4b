import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { CredentialSource } from "../credentials/credential-source.ts";
import { bucketAddress } from "./bucket-address.ts";
import { parseListing, type ListingPage } from "./parse-listing.ts";
import { Connections, readText } from "./request.ts";
import { withRetries } from "./retry.ts";
import { S3Error } from "./s3-error.ts";
import { encodePath, encodeQuery, signedHeaders } from "./sign.ts";

/** A page of a thousand keys of a kilobyte each, percent-encoded, is far below this. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

export interface S3ClientOptions {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint: string | undefined;
  readonly credentials: CredentialSource;
  readonly now: () => Date;
}

export interface ListRequest {
  readonly prefix: string;
  /** List keys above this one. */
  readonly startAfter?: string | undefined;
  /** Continue a listing. */
  readonly token?: string | undefined;
  readonly maxKeys?: number | undefined;
}

/** The two requests that a source of objects needs: list a page, and read an object. Retries what may pass. */
export class S3Client {
  readonly #options: S3ClientOptions;
  readonly #connections = new Connections();
  #region: string;

  constructor(options: S3ClientOptions) {
    this.#options = options;
    this.#region = options.region;
  }

  async list({ prefix, startAfter, token, maxKeys }: ListRequest, signal: AbortSignal): Promise<ListingPage> {
    const query = new Map([
      ["list-type", "2"],
      ["encoding-type", "url"],
      ...(prefix === "" ? [] : [["prefix", prefix] as const]),
      ...(startAfter === undefined || startAfter === "" ? [] : [["start-after", startAfter] as const]),
      ...(token === undefined ? [] : [["continuation-token", token] as const]),
      ...(maxKeys === undefined ? [] : [["max-keys", String(maxKeys)] as const]),
    ]);
    return withRetries(async () => {
      const response = await this.#get("/", query, signal);
      return parseListing(await readText(response, signal, MAX_PAGE_BYTES));
    }, signal);
  }

  /** The content of an object. A stream that breaks off is not resumed. */
  async read(key: string, signal: AbortSignal): Promise<Readable> {
    return withRetries(() => this.#get(`/${encodePath(key)}`, new Map(), signal), signal);
  }

  close(): void {
    this.#connections.close();
  }

  /** Signs and sends a request. A server that names another region as the right one is asked again with that. */
  async #get(path: string, query: ReadonlyMap<string, string>, signal: AbortSignal): Promise<IncomingMessage> {
    try {
      return await this.#getOnce(path, query, signal);
    } catch (thrown) {
      if (!(thrown instanceof S3Error) || thrown.region === undefined || thrown.region === this.#region) throw thrown;
      this.#region = thrown.region;
      return this.#getOnce(path, query, signal);
    }
  }

  async #getOnce(path: string, query: ReadonlyMap<string, string>, signal: AbortSignal): Promise<IncomingMessage> {
    const { bucket, endpoint, credentials, now } = this.#options;
    const { origin, basePath } = bucketAddress(bucket, this.#region, endpoint);
    const fullPath = `${basePath}${path}`;
    const request = {
      method: "GET",
      host: origin.host,
      path: fullPath,
      query,
      region: this.#region,
      at: now(),
    } as const;
    const signer = await credentials.get(signal);
    const headers = signer === undefined ? { host: origin.host } : signedHeaders(request, signer);
    const search = query.size === 0 ? "" : `?${encodeQuery(query)}`;
    try {
      return await this.#connections.get({ origin, path: fullPath + search }, headers, signal);
    } catch (thrown) {
      const isRefused = thrown instanceof S3Error && thrown.code === "AccessDenied";
      throw isRefused && signer === undefined ? new S3Error("NoCredentials", { status: thrown.status }) : thrown;
    }
  }
}
