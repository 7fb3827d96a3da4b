import { useEffect, useRef, useState } from "preact/hooks";
import { useApp, type WhySignedOut } from "../app.ts";

const WORDS: Readonly<Record<WhySignedOut, string | undefined>> = {
  new: undefined,
  refused: "The server does not accept this token.",
  ended: "Your session has ended: the token has expired or was revoked.",
};

/** Asks for a token, if the server wants one. */
export function SignIn({ why }: { readonly why: WhySignedOut }) {
  const app = useApp();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [why]);
  const [token, setToken] = useState("");
  return (
    <div class="sign-in panel">
      <div class="panel-body">
        <h1>Sign in</h1>
        <p class="muted">
          This server serves only clients with a token. It stays in this tab, and is gone when you close it.
        </p>
        {WORDS[why] !== undefined && (
          <div class="banner" data-tone="bad" role="alert">
            <div class="text">{WORDS[why]}</div>
          </div>
        )}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (token.trim() !== "") void app.signIn(token.trim());
          }}
        >
          <label class="field">
            Token
            <input
              ref={field}
              type="password"
              autocomplete="off"
              spellcheck={false}
              value={token}
              onInput={(event) => setToken(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="button primary" disabled={token.trim() === ""}>
            Sign in
          </button>
        </form>
        <p class="muted">
          An operator creates one with <code>gossip token create</code>.
        </p>
      </div>
    </div>
  );
}
