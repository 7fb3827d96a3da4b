import { useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../app.ts";
import { sentenceOf, type CallError } from "../data/call.ts";
import { newOpId } from "../data/op-id.ts";
import { hrefOf } from "../route/route.ts";
import type { Action } from "./actions.ts";

/** States what an action does, and sends it when it is confirmed. One op id per opening, however often it is tried. */
export function ActionDialog({
  action,
  onClose,
}: {
  readonly action: Action;
  readonly onClose: (isDone: boolean) => void;
}) {
  const app = useApp();
  const dialog = useRef<HTMLDialogElement>(null);
  const [opId] = useState(newOpId);
  const [input, setInput] = useState(action.input?.initial ?? "");
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<CallError>();
  const problem = action.input?.problem(input);

  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  const send = async (): Promise<void> => {
    setSending(true);
    setError(undefined);
    const answer = await action.send(app.client, opId, input);
    setSending(false);
    if (!answer.ok) return setError(answer.error);
    const { text, isKept = false } = action.done(answer.value);
    app.toast("good", text, isKept);
    onClose(true);
    if (action.goTo !== undefined) window.location.hash = hrefOf(action.goTo);
  };

  return (
    <dialog ref={dialog} aria-labelledby="action-title" aria-describedby="action-effect" onClose={() => onClose(false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (problem === undefined && !isSending) void send();
        }}
      >
        <h2 id="action-title">{action.title}</h2>
        <div id="action-effect" class="effect">
          {action.effects.map((effect) => (
            <p key={effect}>{effect}</p>
          ))}
        </div>
        {action.input !== undefined && (
          <label class="field">
            <span class="input-label">{action.input.label}</span>
            <input
              type="text"
              autocomplete="off"
              spellcheck={false}
              value={input}
              aria-invalid={input !== "" && problem !== undefined}
              onInput={(event) => setInput(event.currentTarget.value)}
            />
            <span aria-live="polite">{input !== "" ? problem : ""}</span>
          </label>
        )}
        {error !== undefined && (
          <div class="banner" data-tone="bad" role="alert">
            <div class="text">
              {sentenceOf(error)}
              {error.kind === "Network" && " It may have been done. Try again: it is done at most once."}
            </div>
          </div>
        )}
        <div class="buttons">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Do nothing
          </button>
          <button
            type="submit"
            class={action.isDangerous === true ? "button danger" : "button primary"}
            disabled={problem !== undefined || isSending}
          >
            {error?.kind === "Network" ? "Try again" : action.button}
          </button>
        </div>
        <p class="op">
          Operation <code>{opId}</code> · shown in the events
        </p>
      </form>
    </dialog>
  );
}
