// The text of an event stream, cut into messages. `EventSource` cannot send a token, so the stream is read with `fetch`.

export interface StreamMessage {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** A line longer than this is not an event of ours. The parser drops it, so that memory stays bounded. */
const MAX_PENDING = 1 << 20;

/** Reads text in pieces of any size and returns the messages that are complete. */
export class SseParser {
  #pending = "";
  #id: string | undefined;
  #event = "";
  #data: string[] = [];
  #dataSize = 0;

  push(text: string): StreamMessage[] {
    const messages: StreamMessage[] = [];
    const lines = (this.#pending + text).split(/\r\n|\n|\r(?!$)/);
    this.#pending = lines.pop()!;
    if (this.#pending.length > MAX_PENDING) this.#pending = "";
    for (const line of lines) {
      if (line === "") this.#dispatch(messages);
      else this.#field(line);
    }
    return messages;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "event") this.#event = value;
    else if (name === "data" && (this.#dataSize += value.length) <= MAX_PENDING) this.#data.push(value);
  }

  #dispatch(messages: StreamMessage[]): void {
    if (this.#data.length > 0)
      messages.push({ id: this.#id, event: this.#event === "" ? "message" : this.#event, data: this.#data.join("\n") });
    this.#event = "";
    this.#data = [];
    this.#dataSize = 0;
  }
}
