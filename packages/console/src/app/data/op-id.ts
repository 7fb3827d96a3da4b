/** A new op id: 8 random bytes. The server executes a call once, however often it comes with the same op id. */
export function newOpId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The op id of step `index` of an operation, the same whenever the operation is tried again. */
export function opIdAfter(opId: string, index: number): string {
  return BigInt.asUintN(64, BigInt(`0x${opId}`) + BigInt(index))
    .toString(16)
    .padStart(16, "0");
}
