import { showKey, type KeyAxis, type KeyCodec } from "@gossip/insight";
import type { ShownKeyWire } from "@gossip/protocol";

/** Turns keys of a run into texts: in the form of its source, or as sizes if keys are hidden. */
export class KeyShower {
  readonly codec: KeyCodec;
  readonly isHiding: boolean;
  readonly #axis: KeyAxis | undefined;

  constructor(options: { readonly axis: KeyAxis | undefined; readonly codec: KeyCodec; readonly isHiding: boolean }) {
    this.codec = options.codec;
    this.isHiding = options.isHiding;
    this.#axis = options.axis;
  }

  /** A key. An empty one is no bound, and shown as nothing. */
  key(bytes: Uint8Array): ShownKeyWire {
    return { text: this.text(bytes), size: bytes.length, position: this.#clamp(this.#axis?.position(bytes) ?? 0) };
  }

  /** The end of a range. */
  end(bytes: Uint8Array): ShownKeyWire {
    return { ...this.key(bytes), position: this.#clamp(this.#axis?.endPosition(bytes) ?? 1) };
  }

  text(bytes: Uint8Array): string {
    if (bytes.length === 0) return "";
    return this.isHiding ? sizeText(bytes.length) : showKey(bytes, this.codec);
  }

  /** Text of a user's program. It often quotes keys, so it is hidden with them. */
  error(text: string): string {
    return this.isHiding ? sizeText(Buffer.byteLength(text)) : text;
  }

  #clamp(position: number): number {
    return Math.min(1, Math.max(0, position));
  }
}

function sizeText(size: number): string {
  return size === 1 ? "(1 byte)" : `(${size} bytes)`;
}
