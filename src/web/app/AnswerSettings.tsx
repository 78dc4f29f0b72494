import { type ReactNode, useEffect, useState } from "react";
import { MIN_PASSPHRASE } from "../../protocol.ts";
import { apiOf } from "../api/api.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";
import { PassphraseAccount, PassphraseField } from "./PassphraseField.tsx";
import { useClient } from "./store.ts";

/** Sets, changes and removes the passphrase that a page needs to answer agents. */
export function AnswerSettings(): ReactNode {
  const api = apiOf(useClient());
  const [isSet, setIsSet] = useState<boolean>();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [done, setDone] = useState<string>();

  useEffect(() => {
    const ended = new AbortController();
    void api.answerPassphrase(ended.signal).then((reply) => {
      if (ended.signal.aborted) return;
      if (reply.ok) setIsSet(reply.value.is_set);
      else setProblem(failureText(reply.failure));
    });
    return () => ended.abort();
  }, [api]);

  const change = async (wanted: string | undefined): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    setDone(undefined);
    const reply = await api.changePassphrase({
      ...(isSet === true && { current }),
      ...(wanted !== undefined && { next: wanted }),
    });
    setBusy(false);
    if (!reply.ok) return setProblem(failureText(reply.failure));
    setIsSet(reply.value.is_set);
    setDone(wanted === undefined ? t.unlock.removed : t.unlock.changed);
    setCurrent("");
    setNext("");
    // Unlock this page right away, so that the user need not enter the new passphrase again.
    if (wanted !== undefined) await api.unlock(wanted);
  };
  const isReady = next.length >= MIN_PASSPHRASE && (isSet !== true || current !== "");
  return (
    <fieldset className="choice unlocking-settings">
      <legend>{t.unlock.heading}</legend>
      <p className="dialog-note">{t.unlock.about}</p>
      {isSet !== undefined && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady) void change(next);
          }}
        >
          <PassphraseAccount />
          {isSet && (
            <PassphraseField
              label={t.unlock.current}
              autoComplete="current-password"
              value={current}
              onChange={setCurrent}
            />
          )}
          <PassphraseField
            label={isSet ? t.unlock.next : t.unlock.passphrase}
            autoComplete="new-password"
            value={next}
            onChange={setNext}
          />
          <p>
            <button type="submit" className="button" disabled={busy || !isReady}>
              {isSet ? t.unlock.change : t.unlock.set}
            </button>{" "}
            {isSet && (
              <button
                type="button"
                className="button"
                disabled={busy || current === ""}
                onClick={() => void change(undefined)}
              >
                {t.unlock.remove}
              </button>
            )}
          </p>
        </form>
      )}
      <p className="dialog-note" role="status">
        {done}
      </p>
      <p className="dialog-problem" role="alert">
        {problem}
      </p>
    </fieldset>
  );
}
