import { decodeMessage } from "@gossip/scope";
import type { ClusterCall } from "./cluster-handler.ts";
import { decodeFrameMessage } from "./frame-message.ts";
import type { StageAnswer, Staging } from "./staging.ts";

/** The calls of a source that ships records to this node. */
export function stagingCalls(staging: Staging): Readonly<Record<string, ClusterCall>> {
  return {
    "stage-begin": async (body) => {
      const message = decodeMessage(body.toString("utf8"));
      if (!message.ok || !("kind" in message.value) || message.value.kind !== "Offer") return MALFORMED;
      return write(await staging.begin(message.value.migration));
    },
    stage: async (body) => {
      const frame = decodeFrameMessage(body);
      return frame === undefined ? MALFORMED : write(await staging.stage(frame));
    },
    "stage-end": async (body) => {
      const { id, frames } = JSON.parse(body.toString("utf8")) as Record<string, unknown>;
      if (typeof id !== "string" || !Number.isSafeInteger(frames)) return MALFORMED;
      return write(await staging.complete(id, frames as number));
    },
  };
}

/** A message that was damaged on the way is sent again. */
const MALFORMED = { status: 400, text: "not such a message\n" };

function write(answer: StageAnswer): { readonly status: number; readonly text: string } {
  return answer.kind === "Refused"
    ? { status: 409, text: answer.reason }
    : { status: 200, text: JSON.stringify(answer) };
}
