import type { ClientRequest } from "node:http";
import { reasonOf } from "./exchange.ts";
import { objectOf, parseObject, type Json } from "./json-answer.ts";

export interface LineReading {
  readonly onAnswer: (answer: Json) => void;
  readonly signal: AbortSignal;
  /** Largest answer. */
  readonly maxSize: number;
}

/** Read an answer that comes line by line, until it ends or is stopped. Answers with why. */
export function readLines(request: ClientRequest, { onAnswer, signal, maxSize }: LineReading): Promise<string> {
  return new Promise((resolve) => {
    let isOver = false;
    const end = (reason: string): void => {
      isOver = true;
      signal.removeEventListener("abort", stop);
      request.destroy();
      resolve(reason);
    };
    const stop = (): void => end("it was stopped");
    signal.addEventListener("abort", stop);
    request.on("error", (error) => end(reasonOf(error)));
    request.once("response", (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        rest += text;
        if (rest.length > maxSize) return end("an answer is too large");
        const lines = rest.split("\n");
        rest = lines.pop()!;
        for (const line of lines) {
          if (isOver || line === "") continue;
          const fault = deliver(line, onAnswer);
          if (fault !== undefined) return end(fault);
        }
        return undefined;
      });
      response.on("error", () => end("the stream broke"));
      // What is refused outright comes as one answer, with no line end behind it.
      response.once("end", () => end((rest === "" ? undefined : deliver(rest, onAnswer)) ?? "the stream ended"));
      response.once("close", () => end("the stream ended"));
    });
  });
}

function deliver(line: string, onAnswer: (answer: Json) => void): string | undefined {
  const answer = parseObject(line);
  if (answer === undefined) return "an answer is no JSON";
  if ("error" in answer) {
    const message = answer["message"] ?? objectOf(answer["error"])["message"];
    return typeof message === "string" ? message : "etcd ended the stream";
  }
  onAnswer(answer);
  return undefined;
}
