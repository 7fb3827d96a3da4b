import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Put a file in the place of another in one step, and make that durable. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const next = await open(`${path}.next`, "w", 0o600);
  try {
    await next.writeFile(content);
    await next.sync();
  } finally {
    await next.close();
  }
  await rename(`${path}.next`, path);
  await syncFolder(dirname(path));
}

/** Make what was created, renamed or removed in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
