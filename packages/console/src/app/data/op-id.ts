/** A new op id: 8 random bytes. The server executes a call once, however often it comes with the same op id. */
export function newOpId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
