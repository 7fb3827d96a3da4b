import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import type { FileItem } from "@gossip/worker";

/** A line of the output. */
export type FileHash = FileName & ({ readonly sha256: string } | { readonly error: string });

/** Names need not be text. One that is not is given as its bytes. */
type FileName = { readonly path: string } | { readonly pathHex: string };

/** Gone, denied, or replaced by a link or a pipe. */
const RECORDED: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "ENOTDIR", "ELOOP", "EINVAL"]);

/**
 * Hash a file.
 *
 * A file that is gone or may not be read is a result, and written down. What is thrown is tried again, and in
 * the end parks the shard: right for a disk that fails, wrong for one file without permission.
 */
export async function hashFile(item: FileItem): Promise<FileHash> {
  const name =
    item.relativePath === undefined ? { pathHex: Buffer.from(item.key).toString("hex") } : { path: item.relativePath };
  const hash = createHash("sha256");
  try {
    await pipeline((await item.open()).createReadStream(), hash);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== undefined && RECORDED.has(code)) return { ...name, error: code };
    throw thrown;
  }
  return { ...name, sha256: hash.digest("hex") };
}
